import { HttpApiBuilder } from "@effect/platform"
import { DateTime, Effect, Option } from "effect"
import { Invalid, NotFound } from "../api/Problem.ts"
import { ServiceApi } from "../api/ServiceApi.ts"
import { callerApp } from "../catalog/CallerAppHttp.ts"
import { pageAnswer, pageOf } from "../http/Pages.ts"
import { noSuchCustomer } from "./CustomersHttp.ts"
import type { Grant } from "./domain/Grant.ts"
import { type GrantRefused, Grants } from "./Grants.ts"

const grantItem = (grant: Grant, now: DateTime.Utc) => ({
  uuid: grant.id,
  entitlement_identifier: grant.entitlementIdentifier,
  is_active: grant.isActiveAt(now),
  expires_date: Option.getOrNull(Option.map(grant.expiresDate, DateTime.formatIso)),
  revoked_at: Option.getOrNull(Option.map(grant.revokedAt, DateTime.formatIso)),
  created_at: DateTime.formatIso(grant.grantedAt)
})

const refused = ({ endIsPast, entitlementIsUnknown }: GrantRefused) =>
  new Invalid({
    message: "The given data was invalid.",
    errors: {
      ...(entitlementIsUnknown ? { entitlement_identifier: ["names nothing in this app"] } : {}),
      ...(endIsPast ? { expires_date: ["must be in the future"] } : {})
    }
  })

export const GrantsHttp = HttpApiBuilder.group(ServiceApi, "grants", (handlers) =>
  Effect.map(Grants, (grants) =>
    handlers
      .handle("listGrants", ({ path, urlParams }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          const page = yield* pageOf(urlParams)
          const rows = yield* grants.page(app.id, path.appUserId, page)
          const now = yield* DateTime.now
          return pageAnswer(
            rows,
            page.limit,
            ({ id }) => id,
            (grant) => grantItem(grant, now)
          )
        }).pipe(Effect.catchTag("CustomerNotFound", noSuchCustomer))
      )
      .handle("createGrant", ({ path, payload }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          const grant = yield* grants.give(app.id, path.appUserId, {
            entitlementIdentifier: payload.entitlement_identifier,
            expiresDate: Option.fromNullable(payload.expires_date)
          })
          return { data: grantItem(grant, yield* DateTime.now) }
        }).pipe(Effect.catchTags({ CustomerNotFound: noSuchCustomer, GrantRefused: refused }))
      )
      .handle("revokeGrant", ({ path }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          const id = yield* grants.revoke(app.id, path.appUserId, path.grant)
          return { data: { uuid: id, deleted: true as const } }
        }).pipe(
          Effect.catchTags({
            CustomerNotFound: noSuchCustomer,
            GrantNotFound: () => new NotFound({ message: "No such grant." })
          })
        )
      )
  )
)
