import { HttpApiBuilder } from "@effect/platform"
import { Effect, Option, Schema } from "effect"
import { Conflict, Forbidden, Invalid, NotFound } from "../api/Problem.ts"
import { CurrentCaller } from "../api/Security.ts"
import { ServiceApi } from "../api/ServiceApi.ts"
import { pageAnswer, pageOf } from "../http/Pages.ts"
import { callerTenant, noTenant, roleTooLow } from "./CallerTenantHttp.ts"
import { UserId } from "./domain/User.ts"
import { memberItem } from "./IdentityViews.ts"
import { Members } from "./Members.ts"

const noMember = () => new NotFound({ message: "No such member." })

const refusals = {
  TenantNotFound: noTenant,
  RoleTooLow: roleTooLow,
  OwnersOnly: () => new Forbidden({ message: "Only an owner makes, changes or removes owners." })
}

const ofMember = {
  ...refusals,
  MemberNotFound: noMember,
  LastOwner: () => new Conflict({ message: "This is the last owner. Make another member an owner first." })
}

const userOf = (text: string) => Effect.mapError(Schema.decodeUnknownOption(UserId)(text.toLowerCase()), noMember)

export const MembersHttp = HttpApiBuilder.group(ServiceApi, "members", (handlers) =>
  Effect.gen(function* () {
    const members = yield* Members

    return handlers
      .handle("listMembers", ({ path, urlParams }) =>
        Effect.gen(function* () {
          const tenant = yield* callerTenant(path.tenant)
          const page = yield* pageOf(urlParams)
          return pageAnswer(yield* members.page(tenant.id, page), page.limit, ({ id }) => id, memberItem)
        })
      )
      .handle("addMember", ({ path, payload }) =>
        Effect.gen(function* () {
          const tenant = yield* callerTenant(path.tenant)
          const { userId } = yield* CurrentCaller
          return { data: memberItem(yield* members.add(userId, tenant.id, payload)) }
        }).pipe(
          Effect.catchTags({
            ...refusals,
            UserUnknown: () =>
              new Invalid({
                message: "The given data was invalid.",
                errors: { email: ["belongs to nobody who has registered"] }
              }),
            AlreadyMember: () => new Conflict({ message: "The user is a member already." })
          })
        )
      )
      .handle("updateMember", ({ path, payload }) =>
        Effect.gen(function* () {
          const tenant = yield* callerTenant(path.tenant)
          const { userId } = yield* CurrentCaller
          const member = yield* userOf(path.user)
          const changed = yield* members.change(userId, tenant.id, member, Option.fromNullable(payload.role))
          return { data: memberItem(changed) }
        }).pipe(Effect.catchTags(ofMember))
      )
      .handle("removeMember", ({ path }) =>
        Effect.gen(function* () {
          const tenant = yield* callerTenant(path.tenant)
          const { userId } = yield* CurrentCaller
          const member = yield* userOf(path.user)
          yield* members.remove(userId, tenant.id, member)
          return { data: { uuid: member, deleted: true as const } }
        }).pipe(Effect.catchTags(ofMember))
      )
  })
)
