import { HttpApiBuilder } from "@effect/platform"
import { DateTime, Effect, Option } from "effect"
import { Conflict } from "../api/Problem.ts"
import { ServiceApi } from "../api/ServiceApi.ts"
import { pageAnswer, pageOf } from "../http/Pages.ts"
import { noTenant } from "../identity/CallerTenantHttp.ts"
import { Apps } from "./Apps.ts"
import { callerApp, chosenTenant, noSuchApp } from "./CallerAppHttp.ts"
import type { App } from "./domain/App.ts"

export const appItem = (app: App) => ({
  uuid: app.id,
  tenant_uuid: app.tenantId,
  name: app.name,
  slug: app.slug,
  bundle_id: Option.getOrNull(app.bundleId),
  package_name: Option.getOrNull(app.packageName),
  platforms: app.platforms,
  public_api_key: app.publicApiKey,
  status: app.status,
  transfer_behavior: app.transferBehavior,
  created_at: DateTime.formatIso(app.createdAt),
  updated_at: DateTime.formatIso(app.updatedAt)
})

/** A nullable field of a PATCH: absent stays absent, `null` clears. */
const optional = (field: string | null | undefined) => (field === undefined ? undefined : Option.fromNullable(field))

export const AppsHttp = HttpApiBuilder.group(ServiceApi, "apps", (handlers) =>
  Effect.gen(function* () {
    const apps = yield* Apps

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
            platforms: payload.platforms ?? [],
            transferBehavior: payload.transfer_behavior ?? "transfer"
          })
          return { data: appItem(app) }
        }).pipe(Effect.catchTag("TenantNotFound", noTenant))
      )
      .handle("getApp", ({ path }) => Effect.map(callerApp(path.app), (app) => ({ data: appItem(app) })))
      .handle("updateApp", ({ path, payload }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          const changed = yield* apps.update(app.id, {
            name: payload.name,
            platforms: payload.platforms,
            status: payload.status,
            transferBehavior: payload.transfer_behavior,
            bundleId: optional(payload.bundle_id),
            packageName: optional(payload.package_name)
          })
          return { data: appItem(changed) }
        }).pipe(Effect.catchTag("AppNotFound", noSuchApp))
      )
      .handle("rotateKey", ({ path }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          return { data: appItem(yield* apps.rotateKey(app.id)) }
        }).pipe(Effect.catchTag("AppNotFound", noSuchApp))
      )
      .handle("deleteApp", ({ path, urlParams }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          yield* apps.remove(app.id, Option.fromNullable(urlParams.confirm))
          return { data: { uuid: app.id, deleted: true as const } }
        }).pipe(
          Effect.catchTags({
            AppNotFound: noSuchApp,
            DeletionUnconfirmed: () =>
              new Conflict({
                message: "Deleting an app that has customers must be confirmed by its slug.",
                errors: { confirm: ["must be the slug of the app"] }
              })
          })
        )
      )
  })
)
