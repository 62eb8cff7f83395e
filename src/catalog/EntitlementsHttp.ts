import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { ServiceApi } from "../api/ServiceApi.ts"
import { pageAnswer, pageOf } from "../http/Pages.ts"
import { callerApp, callerRecord } from "./CallerAppHttp.ts"
import { entitlementItem } from "./CatalogViews.ts"
import { EntitlementId } from "./domain/Entitlement.ts"
import { Entitlements } from "./Entitlements.ts"
import { bought, gone, taken, unknownNames } from "./RefusalsHttp.ts"

export const EntitlementsHttp = HttpApiBuilder.group(ServiceApi, "entitlements", (handlers) =>
  Effect.gen(function* () {
    const entitlements = yield* Entitlements
    const callerEntitlement = callerRecord("entitlement", EntitlementId, entitlements.byId)

    return handlers
      .handle("listEntitlements", ({ path, urlParams }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          const page = yield* pageOf(urlParams)
          return pageAnswer(yield* entitlements.page(app.id, page), page.limit, ({ id }) => id, entitlementItem)
        })
      )
      .handle("createEntitlement", ({ path, payload }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          const { identifier, name, product_identifiers: productIdentifiers = [] } = payload
          const made = yield* entitlements.create(app.id, { identifier, name, productIdentifiers })
          return { data: entitlementItem(made) }
        }).pipe(Effect.catchTags({ IdentifierTaken: taken, UnknownIdentifiers: unknownNames("product_identifiers") }))
      )
      .handle("updateEntitlement", ({ path, payload }) =>
        Effect.gen(function* () {
          const entitlement = yield* callerEntitlement(path.entitlement)
          const { identifier, name, product_identifiers: productIdentifiers } = payload
          const changed = yield* entitlements.update(entitlement, { identifier, name, productIdentifiers })
          return { data: entitlementItem(changed) }
        }).pipe(
          Effect.catchTags({
            RecordGone: gone("entitlement"),
            IdentifierTaken: taken,
            IdentifierBought: bought,
            UnknownIdentifiers: unknownNames("product_identifiers")
          })
        )
      )
      .handle("deleteEntitlement", ({ path }) =>
        Effect.gen(function* () {
          const entitlement = yield* callerEntitlement(path.entitlement)
          yield* entitlements.remove(entitlement)
          return { data: { uuid: entitlement.id, deleted: true as const } }
        }).pipe(Effect.catchTag("RecordGone", gone("entitlement")))
      )
  })
)
