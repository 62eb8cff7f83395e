import { Schema } from "effect"

export const ProductId = Schema.UUID.pipe(Schema.brand("ProductId"))
export type ProductId = typeof ProductId.Type

/** Neutral names of the stores that a product can be sold in. */
export const StoreName = Schema.Literal("store_a", "store_b", "store_c", "custom")
export type StoreName = typeof StoreName.Type

export const ProductType = Schema.Literal("subscription", "non_renewing_subscription", "consumable", "non_consumable")
export type ProductType = typeof ProductType.Type

/** A store product. `priceMicros` is integer micros of `currency`. */
export class Product extends Schema.Class<Product>("Product")({
  id: ProductId,
  store: StoreName,
  identifier: Schema.String,
  name: Schema.String,
  type: ProductType,
  subscriptionPeriod: Schema.NullOr(Schema.String),
  priceMicros: Schema.NullOr(Schema.Int),
  currency: Schema.NullOr(Schema.String)
}) {}
