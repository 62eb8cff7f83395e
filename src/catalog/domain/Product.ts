import { Schema } from "effect"

export const ProductId = Schema.UUID.pipe(Schema.brand("ProductId"))
export type ProductId = typeof ProductId.Type

/** Neutral names of the stores that a product can be sold in. */
export const StoreName = Schema.Literal("store_a", "store_b", "store_c", "custom")
export type StoreName = typeof StoreName.Type

export const ProductType = Schema.Literal(
  "subscription",
  "non_renewing_subscription",
  "consumable",
  "non_consumable"
)
export type ProductType = typeof ProductType.Type
