import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { ProductType, StoreName } from "../../catalog/domain/Product.ts"
import { data, fields, Identifier, list, Name } from "../Envelope.ts"
import { PageQuery } from "../Page.ts"
import { BadRequest, Conflict, Invalid, NotFound } from "../Problem.ts"
import { AccessTokenAuth, requires } from "../Security.ts"
import { appPath } from "./AppsGroup.ts"

const Price = Schema.Number.pipe(
  Schema.nonNegative(),
  Schema.lessThan(1_000_000_000),
  Schema.filter((price) => Math.abs(price * 1e6 - Math.round(price * 1e6)) < 1e-3 || "must have at most 6 decimals")
)

const Period = Schema.String.pipe(
  Schema.pattern(/^P[1-9]\d{0,2}[DWMY]$/, { message: () => "must be an ISO 8601 duration such as P1M" })
)

const Currency = Schema.String.pipe(
  Schema.pattern(/^[A-Z]{3}$/, { message: () => "must be an ISO 4217 code such as USD" })
)

export const Product = Schema.Struct({
  uuid: Schema.String,
  store: StoreName,
  identifier: Schema.String,
  name: Schema.String,
  type: ProductType,
  subscription_period: Schema.NullOr(Schema.String),
  price: Schema.NullOr(Schema.Number).annotations({ description: "Decimal number in major units" }),
  currency: Schema.NullOr(Schema.String)
}).annotations({ identifier: "Product" })

export const Entitlement = Schema.Struct({
  uuid: Schema.String,
  identifier: Schema.String,
  name: Schema.String,
  product_identifiers: Schema.Array(Schema.String)
}).annotations({ identifier: "Entitlement" })

export class CatalogGroup extends HttpApiGroup.make("catalog")
  .add(
    HttpApiEndpoint.get("listProducts")`/apps/${appPath}/products`
      .setUrlParams(PageQuery)
      .addSuccess(list(Product))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .annotateContext(requires("catalog:read"))
      .annotate(OpenApi.Summary, "List products")
  )
  .add(
    HttpApiEndpoint.post("createProduct")`/apps/${appPath}/products`
      .setPayload(
        fields({
          store: StoreName,
          identifier: Identifier,
          name: Name,
          type: ProductType,
          subscription_period: Schema.optional(Schema.NullOr(Period)),
          price: Schema.optional(Schema.NullOr(Price)),
          currency: Schema.optional(Schema.NullOr(Currency)),
          entitlements: Schema.optional(Schema.Array(Identifier))
        })
      )
      .addSuccess(data(Product), { status: 201 })
      .addError(NotFound.wire)
      .addError(Conflict.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("catalog:write"))
      .annotate(OpenApi.Summary, "Create a product")
  )
  .add(
    HttpApiEndpoint.get("listEntitlements")`/apps/${appPath}/entitlements`
      .setUrlParams(PageQuery)
      .addSuccess(list(Entitlement))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .annotateContext(requires("catalog:read"))
      .annotate(OpenApi.Summary, "List entitlements")
  )
  .add(
    HttpApiEndpoint.post("createEntitlement")`/apps/${appPath}/entitlements`
      .setPayload(
        fields({
          identifier: Identifier,
          name: Name,
          product_identifiers: Schema.optional(Schema.Array(Identifier))
        })
      )
      .addSuccess(data(Entitlement), { status: 201 })
      .addError(NotFound.wire)
      .addError(Conflict.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("catalog:write"))
      .annotate(OpenApi.Summary, "Create an entitlement")
  )
  .middleware(AccessTokenAuth) {}
