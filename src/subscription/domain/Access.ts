import { type DateTime, Option, Order } from "effect"
import type { StoreName } from "../../catalog/domain/Product.ts"
import type { Subscription } from "./Subscription.ts"

/** Which entitlement a store product unlocks. */
export interface Unlock {
  readonly store: StoreName
  readonly productIdentifier: string
  readonly entitlementIdentifier: string
}

const endOf = (subscription: Subscription): number =>
  Option.match(
    Option.orElse(subscription.accessUntil, () => subscription.expiresDate),
    { onNone: () => Infinity, onSome: (end) => end.epochMillis }
  )

const byUse = (now: DateTime.Utc): Order.Order<Subscription> =>
  Order.combine(
    Order.mapInput(Order.boolean, (subscription: Subscription) => subscription.isActive(now)),
    Order.mapInput(Order.number, endOf)
  )

const keepBest = <Item extends { readonly subscription: Subscription }>(
  items: ReadonlyArray<readonly [string, Item]>,
  now: DateTime.Utc
): ReadonlyMap<string, Item> => {
  const better = Order.greaterThan(byUse(now))
  const best = new Map<string, Item>()
  for (const [key, item] of items) {
    const other = best.get(key)
    if (other === undefined || better(item.subscription, other.subscription)) best.set(key, item)
  }
  return best
}

/** By product identifier; of several with one product, the one that is active, then the one that lasts longest. */
export const subscriptionsByProduct = <Item extends { readonly subscription: Subscription }>(
  items: ReadonlyArray<Item>,
  now: DateTime.Utc
): ReadonlyMap<string, Item> => keepBest(items.map((item) => [item.subscription.productIdentifier, item] as const), now)

/**
 * By entitlement identifier: all that a person ever had. With several sources the one that lasts longest wins (contract,
 * part 3, "Customers").
 */
export const entitlementsOf = <Item extends { readonly subscription: Subscription }>(
  items: ReadonlyArray<Item>,
  unlocks: ReadonlyArray<Unlock>,
  now: DateTime.Utc
): ReadonlyMap<string, Item> =>
  keepBest(
    items.flatMap((item) =>
      unlocks
        .filter(
          (unlock) =>
            unlock.store === item.subscription.store && unlock.productIdentifier === item.subscription.productIdentifier
        )
        .map((unlock) => [unlock.entitlementIdentifier, item] as const)
    ),
    now
  )
