import { HttpApiBuilder } from "@effect/platform"
import { Effect, Option } from "effect"
import { Conflict } from "../api/Problem.ts"
import { CurrentCaller } from "../api/Security.ts"
import { ServiceApi } from "../api/ServiceApi.ts"
import { pageAnswer, pageOf } from "../http/Pages.ts"
import { callerTenant, noTenant } from "./CallerTenantHttp.ts"
import { tenantItem } from "./IdentityViews.ts"
import { Tenants } from "./Tenants.ts"

export const TenantsHttp = HttpApiBuilder.group(ServiceApi, "tenants", (handlers) =>
  Effect.gen(function* () {
    const tenants = yield* Tenants

    return handlers
      .handle("listTenants", ({ urlParams }) =>
        Effect.gen(function* () {
          const caller = yield* CurrentCaller
          const { before: after, limit } = yield* pageOf(urlParams)
          const rows = yield* tenants.page(caller.userId, { after, limit })
          return pageAnswer(
            rows,
            limit,
            ({ id }) => id,
            ({ tenant }) => tenantItem(tenant)
          )
        })
      )
      .handle("createTenant", ({ payload }) =>
        Effect.gen(function* () {
          const caller = yield* CurrentCaller
          const tenant = yield* tenants.create(caller.userId, {
            name: payload.name,
            billingEmail: Option.fromNullable(payload.billing_email)
          })
          return { data: tenantItem(tenant) }
        })
      )
      .handle("getTenant", ({ path }) =>
        Effect.map(callerTenant(path.tenant), (tenant) => ({ data: tenantItem(tenant) }))
      )
      .handle("updateTenant", ({ path, payload }) =>
        Effect.gen(function* () {
          const tenant = yield* callerTenant(path.tenant)
          const changed = yield* tenants.update(tenant.id, {
            ...(payload.name === undefined ? {} : { name: payload.name }),
            ...(payload.plan === undefined ? {} : { plan: payload.plan }),
            ...(payload.billing_email === undefined ? {} : { billingEmail: Option.fromNullable(payload.billing_email) })
          })
          return { data: tenantItem(changed) }
        }).pipe(Effect.catchTag("TenantNotFound", noTenant))
      )
      .handle("deleteTenant", ({ path }) =>
        Effect.gen(function* () {
          const tenant = yield* callerTenant(path.tenant)
          yield* tenants.remove(tenant.id)
          return { data: { uuid: tenant.id, deleted: true as const } }
        }).pipe(
          Effect.catchTag(
            "TenantHasApps",
            () => new Conflict({ message: "The workspace still has apps. Delete them first, archived ones too." })
          )
        )
      )
  })
)
