import { Array, Order, Schema } from "effect"
import { OwnedSubscription } from "./Access.ts"
import { type Holdings, OwnedGrant, OwnedPurchase } from "./Entitlements.ts"

const unlocks = Schema.Array(Schema.String)

/** Anything that hangs on a customer, as the database tells it. `unlocks` are identifiers of entitlements. */
export const Held = Schema.Union(
  Schema.Struct({ kind: Schema.Literal("subscription"), item: OwnedSubscription.omit("unlocks"), unlocks }),
  Schema.Struct({ kind: Schema.Literal("purchase"), item: OwnedPurchase.omit("unlocks"), unlocks }),
  Schema.Struct({ kind: Schema.Literal("grant"), item: OwnedGrant.omit("entitlementIdentifier"), unlocks }),
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

/** What may give access, sorted out by kind; purchases oldest first. */
export const holdingsOf = (held: ReadonlyArray<Held>): Holdings => ({
  subscriptions: held.flatMap((one) => (one.kind === "subscription" ? [{ ...one.item, unlocks: one.unlocks }] : [])),
  purchases: Array.sort(
    held.flatMap((one) => (one.kind === "purchase" ? [{ ...one.item, unlocks: one.unlocks }] : [])),
    byPurchase
  ),
  grants: held.flatMap((one) =>
    one.kind === "grant" ? one.unlocks.map((entitlementIdentifier) => ({ ...one.item, entitlementIdentifier })) : []
  )
})

/** The names that were merged into the customer, oldest first. */
export const aliasesOf = (held: ReadonlyArray<Held>): ReadonlyArray<string> =>
  Array.sort(
    held.flatMap((one) => (one.kind === "alias" ? [one.item] : [])),
    bySight
  ).map(({ appUserId }) => appUserId)
