import { Data, Order, Schema } from "effect"
import { StoreName } from "../../catalog/domain/Product.ts"
import { Environment } from "../../store/domain/PurchaseFact.ts"
import { accessUntil, greatestByKey, isActiveAt, OwnedSubscription, type StoredSubscription } from "./Access.ts"
import { GrantId } from "./Grant.ts"

const TextOrNull = Schema.NullOr(Schema.String)

/** A purchase outside any subscription, as it is stored; times are ISO 8601 UTC text. No `expiresDate`: for ever. */
export const OwnedPurchase = Schema.Struct({
  id: Schema.String,
  store: StoreName,
  environment: Environment,
  productIdentifier: Schema.String,
  storeTransactionId: Schema.String,
  originalTransactionId: Schema.String,
  purchaseDate: Schema.String,
  expiresDate: TextOrNull,
  refundedAt: TextOrNull,
  priceMicros: Schema.NullOr(Schema.Number),
  currency: TextOrNull,
  unlocks: Schema.Array(Schema.String)
})
export type OwnedPurchase = typeof OwnedPurchase.Type

/** A grant as it is stored; times are ISO 8601 UTC text. No `expiresDate`: for ever. */
export const OwnedGrant = Schema.Struct({
  id: GrantId,
  entitlementIdentifier: Schema.String,
  grantedAt: Schema.String,
  expiresDate: TextOrNull,
  revokedAt: TextOrNull
})
export type OwnedGrant = typeof OwnedGrant.Type

/** Everything that may give a customer access. */
export const Holdings = Schema.Struct({
  subscriptions: Schema.Array(OwnedSubscription),
  purchases: Schema.Array(OwnedPurchase),
  grants: Schema.Array(OwnedGrant)
})
export type Holdings = typeof Holdings.Type

/** What an entitlement rests on. */
export type Source = Data.TaggedEnum<{
  subscription: { readonly subscription: StoredSubscription }
  purchase: { readonly purchase: OwnedPurchase }
  grant: { readonly grant: OwnedGrant }
}>
export const Source = Data.taggedEnum<Source>()

const earlier = (left: string | null, right: string | null): string | null => {
  if (left === null || right === null) return left ?? right
  return left < right ? left : right
}

/** When access by a source ends or ended; null for one that has no end. */
export const endOf: (source: Source) => string | null = Source.$match({
  subscription: ({ subscription }) =>
    accessUntil(subscription) ?? subscription.expiresDate ?? subscription.purchaseDate,
  purchase: ({ purchase }) => earlier(purchase.expiresDate, purchase.refundedAt),
  grant: ({ grant }) => earlier(grant.expiresDate, grant.revokedAt)
})

/** Derived from the clock when read, like the activity of a subscription. */
export const givesAccessAt = (source: Source, now: string): boolean => {
  if (source._tag === "subscription") return isActiveAt(source.subscription, now)
  const end = endOf(source)
  return end === null || end > now
}

const endlessLast: Order.Order<string | null> = Order.combine(
  Order.mapInput(Order.boolean, (end: string | null) => end === null),
  Order.mapInput(Order.string, (end: string | null) => end ?? "")
)

const byAccess = (now: string): Order.Order<Source> =>
  Order.combine(
    Order.mapInput(Order.boolean, (source: Source) => givesAccessAt(source, now)),
    Order.mapInput(endlessLast, endOf)
  )

/**
 * By entitlement identifier, what it rests on: all that a person ever had. With several sources the one that lasts
 * longest wins (contract, part 3, "Customers"); of equals a subscription before a purchase before a grant.
 */
export const entitlementsOf = (holdings: Holdings, now: string): ReadonlyMap<string, Source> =>
  greatestByKey(
    [
      ...holdings.subscriptions.flatMap(({ subscription, unlocks }) =>
        unlocks.map((identifier) => [identifier, Source.subscription({ subscription })] as const)
      ),
      ...holdings.purchases.flatMap((purchase) =>
        purchase.unlocks.map((identifier) => [identifier, Source.purchase({ purchase })] as const)
      ),
      ...holdings.grants.map((grant) => [grant.entitlementIdentifier, Source.grant({ grant })] as const)
    ],
    byAccess(now)
  )
