import { Array, Option, Schema } from "effect"

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

/**
 * The names under which a catalogue may have what a store sold, the closest first: `product:base-plan` of store B is the
 * plan where the catalogue names it, else the product (contract, part 3, "Product").
 */
export const namesOf = (store: StoreName, identifier: string): ReadonlyArray<string> => {
  const colon = store === "store_b" ? identifier.indexOf(":") : -1
  return colon > 0 ? [identifier, identifier.slice(0, colon)] : [identifier]
}

/** The product that a store sold, among those of its store in the catalogue. */
export const soldAs = <Found extends { readonly identifier: string }>(
  store: StoreName,
  identifier: string,
  products: ReadonlyArray<Found>
): Option.Option<Found> =>
  Array.findFirst(namesOf(store, identifier), (name) =>
    Array.findFirst(products, (product) => product.identifier === name)
  )

export interface ProductFault {
  readonly field: "identifier" | "subscription_period"
  readonly sentence: string
}

/**
 * What is wrong with fields that are right each for itself (contract, part 3, "Product"). It is asked about input that
 * failed elsewhere too, so that a caller learns of everything at once.
 */
export const faultsOf = (product: {
  readonly store?: unknown
  readonly identifier?: unknown
  readonly type?: unknown
  readonly subscriptionPeriod?: unknown
}): ReadonlyArray<ProductFault> => {
  const { identifier, store, subscriptionPeriod = null, type } = product
  const faults: Array<ProductFault> = []
  if (store === "store_b" && typeof identifier === "string" && !/^[^:$]+(:[^:$]+)?$/.test(identifier)) {
    faults.push({ field: "identifier", sentence: "must be product or product:base-plan in store_b" })
  }
  if (type === "subscription" && subscriptionPeriod === null) {
    faults.push({ field: "subscription_period", sentence: "is required for a subscription" })
  }
  return faults
}
