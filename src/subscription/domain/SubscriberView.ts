import { DateTime, Option } from "effect"
import { entitlementsOf, subscriptionsByProduct, type Unlock } from "./Access.ts"
import type { Customer } from "./Customer.ts"
import { fromMicros } from "../../catalog/domain/Money.ts"
import type { Subscription, SubscriptionId } from "./Subscription.ts"

export interface OwnedSubscription {
  readonly id: SubscriptionId
  readonly subscription: Subscription
}

const iso = (moment: Option.Option<DateTime.Utc>): string | null =>
  Option.getOrNull(Option.map(moment, DateTime.formatIso))

/** One subscription in wire form (contract, part 3, "Customers"), seen at `now`. */
export const subscriptionItem = (id: SubscriptionId, subscription: Subscription, now: DateTime.Utc) => ({
  uuid: id,
  product_identifier: subscription.productIdentifier,
  store: subscription.store,
  status: subscription.status,
  is_active: subscription.isActive(now),
  period_type: subscription.periodType,
  purchase_date: DateTime.formatIso(subscription.purchaseDate),
  original_purchase_date: DateTime.formatIso(subscription.originalPurchaseDate),
  expires_date: iso(subscription.expiresDate),
  grace_period_expires_date: iso(subscription.gracePeriodExpiresDate),
  unsubscribe_detected_at: iso(subscription.unsubscribeDetectedAt),
  billing_issues_detected_at: iso(subscription.billingIssuesDetectedAt),
  refunded_at: iso(subscription.refundedAt),
  auto_resume_date: iso(subscription.autoResumeDate),
  will_renew: subscription.willRenew,
  pending_product_identifier: Option.getOrNull(subscription.pendingProductIdentifier),
  price: Option.getOrNull(Option.map(subscription.priceMicros, fromMicros)),
  currency: Option.getOrNull(subscription.currency),
  environment: subscription.environment,
  ownership_type: subscription.ownershipType,
  store_transaction_id: subscription.storeTransactionId,
  original_transaction_id: subscription.originalTransactionId
})

const entitlementItem = (subscription: Subscription, now: DateTime.Utc) => ({
  is_active: subscription.isActive(now),
  product_identifier: subscription.productIdentifier,
  store: subscription.store,
  purchase_date: DateTime.formatIso(subscription.purchaseDate),
  original_purchase_date: DateTime.formatIso(subscription.originalPurchaseDate),
  expires_date: iso(subscription.expiresDate),
  grace_period_expires_date: iso(subscription.gracePeriodExpiresDate),
  will_renew: subscription.willRenew,
  period_type: subscription.periodType,
  source: "subscription" as const,
  environment: subscription.environment
})

/** The subscriber in wire form: both maps hold what once was, too; activity is derived from `now`. */
export const subscriberOf = (
  customer: Customer,
  owned: ReadonlyArray<OwnedSubscription>,
  unlocks: ReadonlyArray<Unlock>,
  now: DateTime.Utc
) => ({
  app_user_id: customer.appUserId,
  original_app_user_id: customer.appUserId,
  is_anonymous: customer.isAnonymous,
  first_seen: DateTime.formatIso(customer.firstSeen),
  last_seen: DateTime.formatIso(customer.lastSeen),
  management_url: null,
  entitlements: Object.fromEntries(
    [...entitlementsOf(owned, unlocks, now)].map(([identifier, { subscription }]) => [
      identifier,
      entitlementItem(subscription, now)
    ])
  ),
  subscriptions: Object.fromEntries(
    [...subscriptionsByProduct(owned, now)].map(([identifier, { id, subscription }]) => [
      identifier,
      subscriptionItem(id, subscription, now)
    ])
  ),
  non_subscriptions: {},
  aliases: new Array<string>()
})

export type SubscriberView = ReturnType<typeof subscriberOf>
