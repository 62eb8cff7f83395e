import { Order } from "effect"
import type { StoreName } from "../../catalog/domain/Product.ts"
import type { SubscriptionId, SubscriptionStatus } from "./Subscription.ts"
import type { Subscription } from "./Subscription.ts"

/** A subscription as it is stored: what `Subscription` encodes to. Times are ISO 8601 UTC text and sort as text. */
export type StoredSubscription = typeof Subscription.Encoded

export interface OwnedSubscription {
  readonly id: SubscriptionId
  readonly subscription: StoredSubscription
}

/** Which entitlement a store product unlocks. */
export interface Unlock {
  readonly store: StoreName
  readonly productIdentifier: string
  readonly entitlementIdentifier: string
}

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

const keepBest = (
  items: ReadonlyArray<readonly [string, OwnedSubscription]>,
  now: string
): ReadonlyMap<string, OwnedSubscription> => {
  const better = Order.greaterThan(byUse(now))
  const best = new Map<string, OwnedSubscription>()
  for (const [key, item] of items) {
    const other = best.get(key)
    if (other === undefined || better(item, other)) best.set(key, item)
  }
  return best
}

/** By product identifier; of several with one product, the one that is active, then the one that lasts longest. */
export const subscriptionsByProduct = (
  items: ReadonlyArray<OwnedSubscription>,
  now: string
): ReadonlyMap<string, OwnedSubscription> =>
  keepBest(
    items.map((item) => [item.subscription.productIdentifier, item] as const),
    now
  )

/**
 * By entitlement identifier: all that a person ever had. With several sources the one that lasts longest wins (contract,
 * part 3, "Customers").
 */
export const entitlementsOf = (
  items: ReadonlyArray<OwnedSubscription>,
  unlocks: ReadonlyArray<Unlock>,
  now: string
): ReadonlyMap<string, OwnedSubscription> =>
  keepBest(
    items.flatMap((item) =>
      unlocks
        .filter(
          ({ productIdentifier, store }) =>
            store === item.subscription.store && productIdentifier === item.subscription.productIdentifier
        )
        .map(({ entitlementIdentifier }) => [entitlementIdentifier, item] as const)
    ),
    now
  )
