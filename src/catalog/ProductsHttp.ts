import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { ServiceApi } from "../api/ServiceApi.ts"
import { pageAnswer, pageOf } from "../http/Pages.ts"
import { callerApp, callerRecord } from "./CallerAppHttp.ts"
import { microsOf, productItem } from "./CatalogViews.ts"
import { ProductId } from "./domain/Product.ts"
import { Products } from "./Products.ts"
import { bought, gone, taken, unfit, unknownNames } from "./RefusalsHttp.ts"

export const ProductsHttp = HttpApiBuilder.group(ServiceApi, "products", (handlers) =>
  Effect.gen(function* () {
    const products = yield* Products
    const callerProduct = callerRecord("product", ProductId, products.byId)

    return handlers
      .handle("listProducts", ({ path, urlParams }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          const page = yield* pageOf(urlParams)
          return pageAnswer(yield* products.page(app.id, page), page.limit, ({ id }) => id, productItem)
        })
      )
      .handle("createProduct", ({ path, payload }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          const { currency = null, entitlements = [], identifier, name, price = null, store, type } = payload
          const { subscription_period: subscriptionPeriod = null } = payload
          const fields = { store, identifier, name, type, subscriptionPeriod, priceMicros: microsOf(price), currency }
          return { data: productItem(yield* products.create(app.id, fields, entitlements)) }
        }).pipe(Effect.catchTags({ IdentifierTaken: taken, UnknownIdentifiers: unknownNames("entitlements") }))
      )
      .handle("getProduct", ({ path }) =>
        Effect.map(callerProduct(path.product), (product) => ({ data: productItem(product) }))
      )
      .handle("updateProduct", ({ path, payload }) =>
        Effect.gen(function* () {
          const product = yield* callerProduct(path.product)
          const { currency, identifier, name, price, subscription_period: subscriptionPeriod, type } = payload
          const changes = { identifier, name, type, subscriptionPeriod, priceMicros: microsOf(price), currency }
          return { data: productItem(yield* products.update(product, changes)) }
        }).pipe(
          Effect.catchTags({
            RecordGone: gone("product"),
            ProductUnfit: unfit,
            IdentifierTaken: taken,
            IdentifierBought: bought
          })
        )
      )
      .handle("deleteProduct", ({ path }) =>
        Effect.gen(function* () {
          const product = yield* callerProduct(path.product)
          yield* products.remove(product)
          return { data: { uuid: product.id, deleted: true as const } }
        }).pipe(Effect.catchTag("RecordGone", gone("product")))
      )
  })
)
