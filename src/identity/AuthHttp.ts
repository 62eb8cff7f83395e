import { HttpApiBuilder } from "@effect/platform"
import { Effect, Option, Schema } from "effect"
import { Forbidden, Invalid, NotFound, TooMany, Unauthenticated } from "../api/Problem.ts"
import { CurrentCaller } from "../api/Security.ts"
import { ServiceApi } from "../api/ServiceApi.ts"
import { pageAnswer, pageOf } from "../http/Pages.ts"
import { AccessTokens } from "./AccessTokens.ts"
import { Accounts } from "./Accounts.ts"
import { AccessTokenId, type UserId } from "./domain/User.ts"
import { newTokenItem, tenantItem, tokenItem, userItem } from "./IdentityViews.ts"
import { LoginThrottle } from "./LoginThrottle.ts"
import { Tenants } from "./Tenants.ts"

const noToken = () => new NotFound({ message: "No such token." })

export const AuthHttp = HttpApiBuilder.group(ServiceApi, "auth", (handlers) =>
  Effect.gen(function* () {
    const accounts = yield* Accounts
    const tokens = yield* AccessTokens
    const tenants = yield* Tenants
    const throttle = yield* LoginThrottle

    const fullToken = (userId: UserId, name: string) =>
      tokens.issue(userId, { name, abilities: ["*"], expiresAt: Option.none() })

    return handlers
      .handle("register", ({ payload, request }) =>
        Effect.gen(function* () {
          const registration = accounts.register({
            name: payload.name,
            email: payload.email,
            password: payload.password,
            tenantName: Option.fromNullable(payload.tenant_name),
            isOperator: false
          })
          const { tenant, user } = yield* throttle.guardRegistration(request.remoteAddress, registration)
          const { token } = yield* fullToken(user.id, "registration")
          return { data: { token, user: userItem(user), tenant: tenantItem(tenant) } }
        }).pipe(
          Effect.catchTags({
            EmailTaken: () =>
              new Invalid({ message: "The given data was invalid.", errors: { email: ["has already been taken"] } }),
            RegistrationClosed: () => new Forbidden({ message: "Registration is closed." }),
            LoginThrottled: ({ retryAfter }) => new TooMany({ message: "Too many registrations.", retryAfter })
          })
        )
      )
      .handle("login", ({ payload, request }) =>
        Effect.gen(function* () {
          const user = yield* throttle.guard(
            { email: payload.email, address: request.remoteAddress },
            accounts.login(payload.email, payload.password)
          )
          const { token } = yield* fullToken(user.id, "login")
          const memberships = yield* tenants.ofUser(user.id)
          return {
            data: { token, user: userItem(user), tenants: memberships.map(({ tenant }) => tenantItem(tenant)) }
          }
        }).pipe(
          Effect.catchTags({
            LoginRefused: () => new Unauthenticated({ message: "E-mail or password is wrong." }),
            LoginThrottled: ({ retryAfter }) => new TooMany({ message: "Too many failed logins.", retryAfter })
          })
        )
      )
      .handle("me", () =>
        Effect.gen(function* () {
          const caller = yield* CurrentCaller
          const user = yield* accounts.byId(caller.userId)
          if (Option.isNone(user)) return yield* new Unauthenticated({ message: "The user no longer exists." })
          const memberships = yield* tenants.ofUser(caller.userId)
          return {
            data: {
              ...userItem(user.value),
              roles: memberships.map(({ role, tenant }) => ({ tenant_uuid: tenant.id, role })),
              tenants: memberships.map(({ tenant }) => tenantItem(tenant)),
              abilities: caller.abilities
            }
          }
        })
      )
      .handle("createToken", ({ payload }) =>
        Effect.gen(function* () {
          const caller = yield* CurrentCaller
          const issued = yield* tokens.mint(caller, {
            name: payload.name,
            abilities: payload.abilities,
            expiresAt: Option.fromNullable(payload.expires_at)
          })
          return { data: newTokenItem(issued) }
        }).pipe(
          Effect.catchTag(
            "AbilitiesExceeded",
            () => new Forbidden({ message: "A token cannot hand out abilities that it does not have." })
          )
        )
      )
      .handle("listTokens", ({ urlParams }) =>
        Effect.gen(function* () {
          const caller = yield* CurrentCaller
          const rows = yield* tokens.page(caller.userId, yield* pageOf(urlParams))
          return pageAnswer(
            rows,
            urlParams.limit,
            ({ id }) => id,
            (token) => tokenItem(token, caller.tokenId)
          )
        })
      )
      .handle("deleteToken", ({ path }) =>
        Effect.gen(function* () {
          const caller = yield* CurrentCaller
          const id = yield* Effect.mapError(
            Schema.decodeUnknownOption(AccessTokenId)(path.token.toLowerCase()),
            noToken
          )
          yield* tokens.revoke(caller, id)
          return { data: { uuid: id, deleted: true as const } }
        }).pipe(
          Effect.catchTags({
            TokenNotFound: noToken,
            AbilitiesExceeded: () =>
              new Forbidden({ message: "A token cannot revoke one that has abilities beyond its own." })
          })
        )
      )
      .handle("logout", () =>
        Effect.gen(function* () {
          const caller = yield* CurrentCaller
          yield* tokens.revoke(caller, caller.tokenId)
          return { data: { revoked: true as const } }
        }).pipe(
          Effect.catchTags({
            TokenNotFound: () => new Unauthenticated({ message: "The token is revoked already." }),
            AbilitiesExceeded: Effect.die
          })
        )
      )
  })
)
