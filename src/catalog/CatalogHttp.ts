import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { Conflict, Invalid } from "../api/Problem.ts"
import { ServiceApi } from "../api/ServiceApi.ts"
import { pageAnswer, pageOf } from "../http/Pages.ts"
import { callerApp } from "./CallerAppHttp.ts"
import { Catalog, type IdentifierTaken, type UnknownIdentifiers } from "./Catalog.ts"
import type { Entitlement } from "./domain/Entitlement.ts"
import { fromMicros, toMicros } from "./domain/Money.ts"
import type { Product } from "./domain/Product.ts"

const productItem = (product: Product) => ({
  uuid: product.id,
  store: product.store,
  identifier: product.identifier,
  name: product.name,
  type: product.type,
  subscription_period: product.subscriptionPeriod,
  price: product.priceMicros === null ? null : fromMicros(product.priceMicros),
  currency: product.currency
})

const entitlementItem = (entitlement: Entitlement) => ({
  uuid: entitlement.id,
  identifier: entitlement.identifier,
  name: entitlement.name,
  product_identifiers: entitlement.productIdentifiers
})

const refusals = (field: string) => ({
  IdentifierTaken: ({ identifier }: IdentifierTaken) =>
    new Conflict({ message: "The identifier is taken.", errors: { identifier: [`"${identifier}" is taken`] } }),
  UnknownIdentifiers: ({ positions }: UnknownIdentifiers) =>
    new Invalid({
      message: "The given data was invalid.",
      errors: Object.fromEntries(positions.map((position) => [`${field}.${position}`, ["names nothing in this app"]]))
    })
})

export const CatalogHttp = HttpApiBuilder.group(ServiceApi, "catalog", (handlers) =>
  Effect.gen(function* () {
    const catalog = yield* Catalog

    return handlers
      .handle("listProducts", ({ path, urlParams }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          const page = yield* pageOf(urlParams)
          return pageAnswer(yield* catalog.products(app.id, page), page.limit, ({ id }) => id, productItem)
        })
      )
      .handle("createProduct", ({ path, payload }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          if (payload.type === "subscription" && (payload.subscription_period ?? null) === null) {
            return yield* new Invalid({
              message: "The given data was invalid.",
              errors: { subscription_period: ["is required for a subscription"] }
            })
          }
          const product = yield* catalog.createProduct(
            app.id,
            {
              store: payload.store,
              identifier: payload.identifier,
              name: payload.name,
              type: payload.type,
              subscriptionPeriod: payload.subscription_period ?? null,
              priceMicros: typeof payload.price === "number" ? toMicros(payload.price) : null,
              currency: payload.currency ?? null
            },
            payload.entitlements ?? []
          )
          return { data: productItem(product) }
        }).pipe(Effect.catchTags(refusals("entitlements")))
      )
      .handle("listEntitlements", ({ path, urlParams }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          const page = yield* pageOf(urlParams)
          return pageAnswer(yield* catalog.entitlements(app.id, page), page.limit, ({ id }) => id, entitlementItem)
        })
      )
      .handle("createEntitlement", ({ path, payload }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          const entitlement = yield* catalog.createEntitlement(app.id, {
            identifier: payload.identifier,
            name: payload.name,
            productIdentifiers: payload.product_identifiers ?? []
          })
          return { data: entitlementItem(entitlement) }
        }).pipe(Effect.catchTags(refusals("product_identifiers")))
      )
  })
)
