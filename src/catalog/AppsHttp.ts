import { HttpApiBuilder } from "@effect/platform"
import { DateTime, Effect, Option } from "effect"
import { NotFound } from "../api/Problem.ts"
import { CurrentCaller } from "../api/Security.ts"
import { ServiceApi } from "../api/ServiceApi.ts"
import { pageAnswer, pageOf } from "../http/Pages.ts"
import { Tenants } from "../identity/Tenants.ts"
import { Apps } from "./Apps.ts"
import { callerApp, roleTooLow } from "./CallerAppHttp.ts"
import type { App } from "./domain/App.ts"

const appItem = (app: App) => ({
  uuid: app.id,
  tenant_uuid: app.tenantId,
  name: app.name,
  slug: app.slug,
  bundle_id: Option.getOrNull(app.bundleId),
  package_name: Option.getOrNull(app.packageName),
  platforms: app.platforms,
  public_api_key: app.publicApiKey,
  status: app.status,
  created_at: DateTime.formatIso(app.createdAt),
  updated_at: DateTime.formatIso(app.updatedAt)
})

export const AppsHttp = HttpApiBuilder.group(ServiceApi, "apps", (handlers) =>
  Effect.gen(function* () {
    const apps = yield* Apps
    const tenants = yield* Tenants

    const chosenTenant = Effect.fn("AppsHttp.chosenTenant")(
      function* (header: string | undefined) {
        return yield* tenants.select(yield* CurrentCaller, Option.fromNullable(header))
      },
      Effect.catchTags({
        TenantNotFound: () => new NotFound({ message: "No such workspace." }),
        RoleTooLow: roleTooLow
      })
    )

    return handlers
      .handle("listApps", ({ headers, urlParams }) =>
        Effect.gen(function* () {
          const tenant = yield* chosenTenant(headers["x-tenant"])
          const page = yield* pageOf(urlParams)
          const rows = yield* apps.page(tenant.id, { ...page, status: Option.fromNullable(urlParams.status) })
          return pageAnswer(rows, page.limit, ({ id }) => id, appItem)
        })
      )
      .handle("createApp", ({ headers, payload }) =>
        Effect.gen(function* () {
          const tenant = yield* chosenTenant(headers["x-tenant"])
          const app = yield* apps.create(tenant.id, {
            name: payload.name,
            bundleId: Option.fromNullable(payload.bundle_id),
            packageName: Option.fromNullable(payload.package_name),
            platforms: payload.platforms ?? []
          })
          return { data: appItem(app) }
        })
      )
      .handle("getApp", ({ path }) => Effect.map(callerApp(path.app), (app) => ({ data: appItem(app) })))
      .handle("updateApp", ({ path, payload }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          const changed = yield* apps.update(app, {
            ...(payload.name === undefined ? {} : { name: payload.name }),
            ...(payload.platforms === undefined ? {} : { platforms: payload.platforms }),
            ...(payload.status === undefined ? {} : { status: payload.status }),
            ...(payload.bundle_id === undefined ? {} : { bundleId: Option.fromNullable(payload.bundle_id) }),
            ...(payload.package_name === undefined ? {} : { packageName: Option.fromNullable(payload.package_name) })
          })
          return { data: appItem(changed) }
        })
      )
      .handle("rotateKey", ({ path }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          return { data: appItem(yield* apps.rotateKey(app)) }
        })
      )
  })
)
