import { fromMicros } from "../../catalog/domain/Money.ts"
import type { StoreName } from "../../catalog/domain/Product.ts"
import { isActiveAt, type StoredSubscription, subscriptionsByProduct } from "./Access.ts"
import { endOf, entitlementsOf, givesAccessAt, type Holdings, type OwnedPurchase, Source } from "./Entitlements.ts"
import type { SubscriptionId } from "./Subscription.ts"

/** A customer as it is stored; times are ISO 8601 UTC text. `aliases` are the merged names, oldest first. */
export interface StoredCustomer {
  readonly appUserId: string
  readonly originalAppUserId: string | null
  readonly isAnonymous: boolean
  readonly firstSeen: string
  readonly lastSeen: string
  readonly aliases: ReadonlyArray<string>
}

/** Where a person manages what a store renews; null where the store has no such page. */
const managementPages: { readonly [Store in StoreName]: string | null } = {
  store_a: "https://apps.apple.com/account/subscriptions",
  store_b: "https://play.google.com/store/account/subscriptions",
  store_c: null,
  custom: null
}

const moneyOf = (priceMicros: number | null) => (priceMicros === null ? null : fromMicros(priceMicros))

/** One subscription in wire form (contract, part 3, "Customers"), seen at `now`. */
export const subscriptionItem = (id: SubscriptionId, subscription: StoredSubscription, now: string) => ({
  uuid: id,
  store: subscription.store,
  status: subscription.status,
  is_active: isActiveAt(subscription, now),
  period_type: subscription.periodType,
  purchase_date: subscription.purchaseDate,
  original_purchase_date: subscription.originalPurchaseDate,
  expires_date: subscription.expiresDate,
  grace_period_expires_date: subscription.gracePeriodExpiresDate,
  unsubscribe_detected_at: subscription.unsubscribeDetectedAt,
  billing_issues_detected_at: subscription.billingIssuesDetectedAt,
  refunded_at: subscription.refundedAt,
  auto_resume_date: subscription.autoResumeDate,
  will_renew: subscription.willRenew,
  pending_product_identifier: subscription.pendingProductIdentifier,
  price: moneyOf(subscription.priceMicros),
  currency: subscription.currency,
  environment: subscription.environment,
  ownership_type: subscription.ownershipType,
  store_transaction_id: subscription.storeTransactionId,
  original_transaction_id: subscription.originalTransactionId
})

const purchaseItem = (purchase: OwnedPurchase) => ({
  uuid: purchase.id,
  store: purchase.store,
  purchase_date: purchase.purchaseDate,
  refunded_at: purchase.refundedAt,
  price: moneyOf(purchase.priceMicros),
  currency: purchase.currency,
  environment: purchase.environment,
  store_transaction_id: purchase.storeTransactionId,
  original_transaction_id: purchase.originalTransactionId
})

const originOf = Source.$match({
  subscription: ({ subscription }) => ({
    product_identifier: subscription.productIdentifier,
    store: subscription.store,
    purchase_date: subscription.purchaseDate,
    original_purchase_date: subscription.originalPurchaseDate,
    expires_date: subscription.expiresDate,
    grace_period_expires_date: subscription.gracePeriodExpiresDate,
    will_renew: subscription.willRenew,
    period_type: subscription.periodType,
    environment: subscription.environment
  }),
  purchase: (source) => ({
    product_identifier: source.purchase.productIdentifier,
    store: source.purchase.store,
    purchase_date: source.purchase.purchaseDate,
    original_purchase_date: source.purchase.purchaseDate,
    expires_date: endOf(source),
    grace_period_expires_date: null,
    will_renew: false,
    period_type: "normal" as const,
    environment: source.purchase.environment
  }),
  grant: (source) => ({
    product_identifier: null,
    store: "custom" as const,
    purchase_date: source.grant.grantedAt,
    original_purchase_date: source.grant.grantedAt,
    expires_date: endOf(source),
    grace_period_expires_date: null,
    will_renew: false,
    period_type: "promotional" as const,
    environment: "production" as const
  })
})

const entitlementItem = (source: Source, now: string) => ({
  is_active: givesAccessAt(source, now),
  ...originOf(source),
  source: source._tag
})

/** The page of the store whose subscription the person can still manage; of several the one that lasts longest. */
const managementUrlOf = ({ subscriptions }: Holdings): string | null => {
  const open = subscriptions
    .map(({ subscription }) => subscription)
    .filter(({ status }) => status !== "expired" && status !== "revoked" && status !== "unknown")
    .sort((left, right) => ((left.expiresDate ?? "") < (right.expiresDate ?? "") ? 1 : -1))
  return open[0] === undefined ? null : managementPages[open[0].store]
}

const purchasesByProduct = ({ purchases }: Holdings) => {
  const lists: Record<string, Array<ReturnType<typeof purchaseItem>>> = Object.create(null)
  for (const purchase of purchases) (lists[purchase.productIdentifier] ??= []).push(purchaseItem(purchase))
  return lists
}

/** The subscriber in wire form: the maps hold what once was, too; activity is derived from `now`. */
export const subscriberOf = (customer: StoredCustomer, holdings: Holdings, now: string) => ({
  app_user_id: customer.appUserId,
  original_app_user_id: customer.originalAppUserId ?? customer.appUserId,
  is_anonymous: customer.isAnonymous,
  first_seen: customer.firstSeen,
  last_seen: customer.lastSeen,
  management_url: managementUrlOf(holdings),
  entitlements: Object.fromEntries(
    [...entitlementsOf(holdings, now)].map(([identifier, source]) => [identifier, entitlementItem(source, now)])
  ),
  subscriptions: Object.fromEntries(
    [...subscriptionsByProduct(holdings.subscriptions, now)].map(([identifier, { id, subscription }]) => [
      identifier,
      subscriptionItem(id, subscription, now)
    ])
  ),
  non_subscriptions: purchasesByProduct(holdings),
  aliases: customer.aliases
})

export type SubscriberView = ReturnType<typeof subscriberOf>
