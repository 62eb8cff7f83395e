import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { DateTime, Effect, Schema } from "effect"
import { Ability, Role } from "../../identity/domain/Ability.ts"
import { Email } from "../../identity/domain/Email.ts"
import { Credentials, NewPassword } from "../Credentials.ts"
import { data, Deleted, fields, list, Moment, Name, Timestamp } from "../Envelope.ts"
import { PageQuery } from "../Page.ts"
import { BadRequest, Forbidden, Invalid, NotFound, TooMany, Unauthenticated } from "../Problem.ts"
import { repeatable } from "../Repeatable.ts"
import { AccessTokenAuth } from "../Security.ts"
import { Tenant } from "./TenantsGroup.ts"

const FutureMoment = Moment.pipe(
  Schema.filterEffect((moment) =>
    Effect.map(DateTime.now, (now) => DateTime.greaterThan(moment, now) || "must be in the future")
  )
).annotations({ jsonSchema: { type: "string", format: "date-time" } })

const NullableFutureMoment = Schema.NullOr(FutureMoment).annotations({
  message: () => ({ message: "must be a time in the future or null", override: true })
})

export const User = Schema.Struct({
  uuid: Schema.String,
  name: Schema.String,
  email: Schema.String,
  created_at: Timestamp
}).annotations({
  identifier: "User",
  examples: [
    {
      uuid: "019a9a3e-6c1f-7c64-9d5b-6a1f0a7f3c11",
      name: "Ann",
      email: "ann@example.com",
      created_at: "2026-03-01T09:30:00.000Z"
    }
  ]
})

const abilities = Schema.Array(Ability).annotations({
  description: "`*`, or `<area>:read` and `<area>:write`; write includes read. The effective right is role ∩ ability"
})

const secret = Schema.Redacted(Schema.String).annotations({ description: "The token, `gh_pat_…`: shown once" })

const tokenFields = {
  uuid: Schema.String,
  name: Schema.String,
  abilities,
  created_at: Timestamp,
  expires_at: Schema.NullOr(Timestamp).annotations({ description: "null: until it is revoked" })
}

const NewToken = Schema.Struct({ ...tokenFields, token: secret }).annotations({ identifier: "NewToken" })

const Token = Schema.Struct({
  ...tokenFields,
  last_used_at: Schema.NullOr(Timestamp).annotations({ description: "Exact to five minutes; null: never" }),
  is_current: Schema.Boolean.annotations({ description: "Whether this call presents it" })
}).annotations({
  identifier: "Token",
  examples: [
    {
      uuid: "019a9a3f-01b2-7d0e-8f53-2c4de0a9b7f1",
      name: "build agent",
      abilities: ["catalog:write", "customers:read"],
      created_at: "2026-03-01T09:31:00.000Z",
      expires_at: null,
      last_used_at: "2026-03-01T10:05:00.000Z",
      is_current: false
    }
  ]
})

const Me = Schema.Struct({
  ...User.fields,
  roles: Schema.Array(Schema.Struct({ tenant_uuid: Schema.String, role: Role })),
  tenants: Schema.Array(Tenant).annotations({ description: "The first one is the default when `X-Tenant` is absent" }),
  abilities
}).annotations({
  identifier: "Me",
  examples: [
    {
      uuid: "019a9a46-33c8-7b9a-a1d4-0c8e5f2b7d66",
      name: "Ann",
      email: "ann@example.com",
      created_at: "2026-03-02T08:00:00.000Z",
      roles: [{ tenant_uuid: "019a9a40-33c8-7b9a-a1d4-0c8e5f2b7d60", role: "owner" }],
      tenants: [],
      abilities: ["*"]
    }
  ]
})

export class AuthGroup extends HttpApiGroup.make("auth")
  .add(
    HttpApiEndpoint.post("register", "/auth/register")
      .setPayload(
        fields({
          name: Name,
          email: Email,
          password: NewPassword,
          tenant_name: Schema.optionalWith(Name, { exact: true }).annotations({
            description: "Default: `<name>'s workspace`"
          })
        })
      )
      .addSuccess(data(Schema.Struct({ token: secret, user: User, tenant: Tenant })), { status: 201 })
      .addError(BadRequest.wire)
      .addError(Forbidden.wire)
      .addError(Invalid.wire)
      .addError(TooMany.wire)
      .annotateContext(repeatable("leased"))
      .annotate(OpenApi.Summary, "Create a user with a workspace of its own")
      .annotate(
        OpenApi.Description,
        "The user becomes `owner` of the workspace; the token has every ability. 403 once a user exists and the program " +
          "runs with `REGISTRATION=closed`. 429 after 600 registrations, or 30 failures, in a minute from one address."
      )
  )
  .add(
    HttpApiEndpoint.post("login", "/auth/login")
      .setPayload(Credentials)
      .addSuccess(data(Schema.Struct({ token: secret, user: User, tenants: Schema.Array(Tenant) })))
      .addError(BadRequest.wire)
      .addError(Unauthenticated.wire)
      .addError(Invalid.wire)
      .addError(TooMany.wire)
      .annotateContext(repeatable("never"))
      .annotate(OpenApi.Summary, "Exchange e-mail and password for a token")
      .annotate(
        OpenApi.Description,
        "An unknown e-mail and a wrong password are the same 401, in the same time. 429 after five failures in a minute " +
          "for one e-mail and address, or thirty for one address."
      )
  )
  .add(
    HttpApiEndpoint.get("me", "/auth/me")
      .addSuccess(data(Me))
      .middleware(AccessTokenAuth)
      .annotate(OpenApi.Summary, "Show the current user, roles, workspaces and the token's abilities")
  )
  .add(
    HttpApiEndpoint.post("createToken", "/auth/tokens")
      .setPayload(
        fields({
          name: Name,
          abilities: Schema.optionalWith(Schema.NonEmptyArray(Ability), { exact: true, default: () => ["*"] as const }),
          expires_at: Schema.optionalWith(NullableFutureMoment, { exact: true, default: () => null }).annotations({
            description: "Never later than the expiry of the token that asks"
          })
        })
      )
      .addSuccess(data(NewToken), { status: 201 })
      .addError(BadRequest.wire)
      .addError(Invalid.wire)
      .middleware(AccessTokenAuth)
      .annotate(OpenApi.Summary, "Create a personal access token")
      .annotate(
        OpenApi.Description,
        "The new token can do no more than the one that asks for it (403), and lives no longer: a later or absent " +
          "`expires_at` becomes that token's own."
      )
  )
  .add(
    HttpApiEndpoint.get("listTokens", "/auth/tokens")
      .setUrlParams(PageQuery)
      .addSuccess(list(Token))
      .addError(BadRequest.wire)
      .addError(Invalid.wire)
      .middleware(AccessTokenAuth)
      .annotate(OpenApi.Summary, "List the user's tokens, without their text")
  )
  .add(
    HttpApiEndpoint.del("deleteToken")`/auth/tokens/${HttpApiSchema.param("token", Schema.String)}`
      .addSuccess(Deleted)
      .addError(NotFound.wire)
      .middleware(AccessTokenAuth)
      .annotate(OpenApi.Summary, "Revoke one of the user's tokens")
      .annotate(
        OpenApi.Description,
        "`{token}` is the uuid. A token revokes itself and those that have no ability beyond its own (else 403)."
      )
  )
  .add(
    HttpApiEndpoint.post("logout", "/auth/logout")
      .addSuccess(data(Schema.Struct({ revoked: Schema.Literal(true) })))
      .middleware(AccessTokenAuth)
      .annotateContext(repeatable("never"))
      .annotate(OpenApi.Summary, "Revoke the presented token")
  ) {}
