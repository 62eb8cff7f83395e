import { Order, Schema } from "effect"
import { Subscription, SubscriptionId, type SubscriptionStatus } from "./Subscription.ts"

/** A subscription as it is stored: what `Subscription` encodes to. Times are ISO 8601 UTC text and sort as text. */
export const StoredSubscription = Schema.encodedSchema(Subscription)
export type StoredSubscription = typeof Subscription.Encoded

/** A subscription of a customer with the identifiers of the entitlements that its product unlocks. */
export const OwnedSubscription = Schema.Struct({
  id: SubscriptionId,
  subscription: StoredSubscription,
  unlocks: Schema.Array(Schema.String)
})
export type OwnedSubscription = typeof OwnedSubscription.Type

type AccessRule = "until_expiry" | "until_grace_ends" | "none"

const accessOf: { readonly [Status in SubscriptionStatus]: AccessRule } = {
  active: "until_expiry",
  trialing: "until_expiry",
  canceled: "until_expiry",
  paused_pending: "until_expiry",
  in_grace_period: "until_grace_ends",
  in_billing_retry: "none",
  on_hold: "none",
  paused: "none",
  expired: "none",
  revoked: "none",
  unknown: "none"
}

/** The moment until which the status as it stands gives access; null for a status that gives none. */
export const accessUntil = (subscription: StoredSubscription): string | null => {
  switch (accessOf[subscription.status]) {
    case "until_expiry":
      return subscription.expiresDate
    case "until_grace_ends":
      return subscription.gracePeriodExpiresDate ?? subscription.expiresDate
    case "none":
      return null
  }
}

/** Derived from the clock when read, never stored (contract, part 3, "Subscription states"). */
export const isActiveAt = (subscription: StoredSubscription, now: string): boolean => {
  const until = accessUntil(subscription)
  return until !== null && until > now
}

const byUse = (now: string): Order.Order<OwnedSubscription> =>
  Order.combine(
    Order.mapInput(Order.boolean, ({ subscription }: OwnedSubscription) => isActiveAt(subscription, now)),
    Order.mapInput(
      Order.string,
      ({ subscription }: OwnedSubscription) => accessUntil(subscription) ?? subscription.expiresDate ?? ""
    )
  )

/** Of several items with one key, the greatest. */
export const greatestByKey = <A>(
  items: Iterable<readonly [key: string, item: A]>,
  order: Order.Order<A>
): ReadonlyMap<string, A> => {
  const isBetter = Order.greaterThan(order)
  const best = new Map<string, A>()
  for (const [key, item] of items) {
    const other = best.get(key)
    if (other === undefined || isBetter(item, other)) best.set(key, item)
  }
  return best
}

/** By product identifier; of several with one product, the one that is active, then the one that lasts longest. */
export const subscriptionsByProduct = (
  items: ReadonlyArray<OwnedSubscription>,
  now: string
): ReadonlyMap<string, OwnedSubscription> =>
  greatestByKey(
    items.map((item) => [item.subscription.productIdentifier, item] as const),
    byUse(now)
  )
