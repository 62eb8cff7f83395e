import { Array, Option, Order, Schema } from "effect"
import { soldAs, type StoreName } from "../../catalog/domain/Product.ts"
import { OwnedSubscription } from "./Access.ts"
import { type Holdings, OwnedGrant, OwnedPurchase } from "./Entitlements.ts"

const products = Schema.Array(Schema.Struct({ identifier: Schema.String, unlocks: Schema.Array(Schema.String) }))

/**
 * Anything that hangs on a customer, as the database tells it. `products` are those of the catalogue that may be meant by
 * what was bought, with the identifiers of the entitlements that they unlock.
 */
export const Held = Schema.Union(
  Schema.Struct({ kind: Schema.Literal("subscription"), item: OwnedSubscription.omit("unlocks"), products }),
  Schema.Struct({ kind: Schema.Literal("purchase"), item: OwnedPurchase.omit("unlocks"), products }),
  Schema.Struct({ kind: Schema.Literal("grant"), item: OwnedGrant }),
  Schema.Struct({
    kind: Schema.Literal("alias"),
    item: Schema.Struct({ appUserId: Schema.String, firstSeen: Schema.String })
  })
)
export type Held = typeof Held.Type

const byPurchase = Order.mapInput(Order.string, ({ id, purchaseDate }: OwnedPurchase) => purchaseDate + id)

const bySight = Order.mapInput(
  Order.string,
  ({ appUserId, firstSeen }: { readonly appUserId: string; readonly firstSeen: string }) => firstSeen + appUserId
)

const unlocks = (
  { productIdentifier, store }: { readonly store: StoreName; readonly productIdentifier: string },
  candidates: typeof products.Type
): ReadonlyArray<string> =>
  Option.match(soldAs(store, productIdentifier, candidates), { onNone: () => [], onSome: (product) => product.unlocks })

/** What may give access, sorted out by kind; purchases oldest first. */
export const holdingsOf = (held: ReadonlyArray<Held>): Holdings => ({
  subscriptions: held.flatMap((one) =>
    one.kind === "subscription" ? [{ ...one.item, unlocks: unlocks(one.item.subscription, one.products) }] : []
  ),
  purchases: Array.sort(
    held.flatMap((one) => (one.kind === "purchase" ? [{ ...one.item, unlocks: unlocks(one.item, one.products) }] : [])),
    byPurchase
  ),
  grants: held.flatMap((one) => (one.kind === "grant" ? [one.item] : []))
})

/** The names that were merged into the customer, oldest first. */
export const aliasesOf = (held: ReadonlyArray<Held>): ReadonlyArray<string> =>
  Array.sort(
    held.flatMap((one) => (one.kind === "alias" ? [one.item] : [])),
    bySight
  ).map(({ appUserId }) => appUserId)
