import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Option, Schema } from "effect"
import { isCurrency } from "../../catalog/domain/Currency.ts"
import { fromMicros, mostMicros, toMicros } from "../../catalog/domain/Money.ts"
import { parsePeriod } from "../../catalog/domain/Period.ts"
import { faultsOf, ProductType, StoreName } from "../../catalog/domain/Product.ts"
import { data, Deleted, fields, Identifier, list, Name } from "../Envelope.ts"
import { PageQuery } from "../Page.ts"
import { BadRequest, Conflict, Invalid, NotFound } from "../Problem.ts"
import { AccessTokenAuth, requires } from "../Security.ts"
import { appPath } from "./AppsGroup.ts"

/** A decimal number in major units; inside it is integer micros (`domain/Money`). */
const Price = Schema.Number.pipe(
  Schema.filter(
    (price) =>
      Option.isSome(toMicros(price)) || "must be 0 or more, with at most 9 digits before the point and 6 behind it",
    {
      jsonSchema: {
        minimum: 0,
        maximum: fromMicros(mostMicros),
        description: "Decimal number in major units, kept exactly: at most 9 digits before the point and 6 behind it",
        examples: [9.99]
      }
    }
  )
)

const Period = Schema.String.pipe(
  Schema.filter((text) => Option.isSome(parsePeriod(text)) || "must be an ISO 8601 duration such as P1M", {
    jsonSchema: {
      pattern: "^P[1-9][0-9]{0,2}[DWMY]$",
      description: "ISO 8601 duration `P<n><unit>`, n from 1 to 999, unit D, W, M or Y; required for a `subscription`",
      examples: ["P1M"]
    }
  })
)

const Currency = Schema.String.pipe(
  Schema.filter((text) => isCurrency(text) || "must be an ISO 4217 code such as USD", {
    jsonSchema: { pattern: "^[A-Z]{3}$", description: "ISO 4217", examples: ["USD"] }
  })
)

const ProductIdentifier = Identifier.annotations({
  description: "As the store knows the product; in store B `product` or `product:base-plan`",
  examples: ["pro.monthly"]
})

const productFields = {
  store: StoreName,
  identifier: ProductIdentifier,
  name: Name,
  type: ProductType,
  subscription_period: Schema.optional(Schema.NullOr(Period)),
  price: Schema.optional(Schema.NullOr(Price)),
  currency: Schema.optional(Schema.NullOr(Currency)),
  entitlements: Schema.optional(Schema.Array(Identifier)).annotations({
    description: "Identifiers of entitlements that the product unlocks, besides those that name its identifier already"
  })
}

/** Effect's mark of a filter that runs although single fields failed: it gets the input as it came. */
const asksAlways = Symbol.for("effect/annotation/StableFilter")

/** What is asked of several fields together is asked of failing input too: every fault is told at once. */
export const ProductFields = fields(productFields).pipe(
  Schema.filter(
    (product) =>
      faultsOf({ ...product, subscriptionPeriod: product.subscription_period }).map(({ field, sentence }) => ({
        path: [field],
        message: sentence
      })),
    { [asksAlways]: true, jsonSchema: {} }
  ),
  Schema.annotations({ parseOptions: { errors: "all" } })
)

export const Product = Schema.Struct({
  uuid: Schema.String,
  store: StoreName,
  identifier: Schema.String,
  name: Schema.String,
  type: ProductType,
  subscription_period: Schema.NullOr(Schema.String),
  price: Schema.NullOr(Price),
  currency: Schema.NullOr(Schema.String)
}).annotations({
  identifier: "Product",
  examples: [
    {
      uuid: "019a9a42-33c8-7b9a-a1d4-0c8e5f2b7d62",
      store: "store_a",
      identifier: "pro.monthly",
      name: "Pro, monthly",
      type: "subscription",
      subscription_period: "P1M",
      price: 9.99,
      currency: "USD"
    }
  ]
})

export const productPath = HttpApiSchema.param("product", Schema.String)

export class ProductsGroup extends HttpApiGroup.make("products")
  .add(
    HttpApiEndpoint.get("listProducts")`/apps/${appPath}/products`
      .setUrlParams(PageQuery)
      .addSuccess(list(Product))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("catalog:read"))
      .annotate(OpenApi.Summary, "List products, newest first")
  )
  .add(
    HttpApiEndpoint.post("createProduct")`/apps/${appPath}/products`
      .setPayload(ProductFields)
      .addSuccess(data(Product), { status: 201 })
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Conflict.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("catalog:write"))
      .annotate(OpenApi.Summary, "Create a product")
      .annotate(
        OpenApi.Description,
        "Unique by app, store and identifier. One identifier may stand for a product of each store: whatever names it (an entitlement, a package) means all of them, so a product joins what already names its identifier."
      )
  )
  .add(
    HttpApiEndpoint.get("getProduct")`/products/${productPath}`
      .addSuccess(data(Product))
      .addError(NotFound.wire)
      .annotateContext(requires("catalog:read"))
      .annotate(OpenApi.Summary, "Show a product")
  )
  .add(
    HttpApiEndpoint.patch("updateProduct")`/products/${productPath}`
      .setPayload(
        fields({
          identifier: Schema.optional(ProductIdentifier),
          name: Schema.optional(Name),
          type: Schema.optional(ProductType),
          subscription_period: productFields.subscription_period,
          price: productFields.price,
          currency: productFields.currency
        })
      )
      .addSuccess(data(Product))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Conflict.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("catalog:write"))
      .annotate(OpenApi.Summary, "Change a product; absent fields keep their value, null clears")
      .annotate(
        OpenApi.Description,
        "The store stays. The identifier changes only while nothing was bought under it (409); packages that name it follow when no other store's product carries it. Which entitlements it unlocks is changed at the entitlements."
      )
  )
  .add(
    HttpApiEndpoint.del("deleteProduct")`/products/${productPath}`
      .addSuccess(Deleted)
      .addError(NotFound.wire)
      .annotateContext(requires("catalog:write"))
      .annotate(OpenApi.Summary, "Delete a product")
      .annotate(
        OpenApi.Description,
        "Takes it out of entitlements, and removes packages that name its identifier when no other store's product carries it. Subscriptions and transactions stay."
      )
  )
  .middleware(AccessTokenAuth) {}
