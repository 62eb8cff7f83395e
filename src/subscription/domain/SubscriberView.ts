import { fromMicros } from "../../catalog/domain/Money.ts"
import {
  entitlementsOf,
  isActiveAt,
  type OwnedSubscription,
  type StoredSubscription,
  subscriptionsByProduct,
  type Unlock
} from "./Access.ts"
import type { SubscriptionId } from "./Subscription.ts"

/** A customer as it is stored; times are ISO 8601 UTC text. */
export interface StoredCustomer {
  readonly appUserId: string
  readonly isAnonymous: boolean
  readonly firstSeen: string
  readonly lastSeen: string
}

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
  price: subscription.priceMicros === null ? null : fromMicros(subscription.priceMicros),
  currency: subscription.currency,
  environment: subscription.environment,
  ownership_type: subscription.ownershipType,
  store_transaction_id: subscription.storeTransactionId,
  original_transaction_id: subscription.originalTransactionId
})

const entitlementItem = (subscription: StoredSubscription, now: string) => ({
  is_active: isActiveAt(subscription, now),
  product_identifier: subscription.productIdentifier,
  store: subscription.store,
  purchase_date: subscription.purchaseDate,
  original_purchase_date: subscription.originalPurchaseDate,
  expires_date: subscription.expiresDate,
  grace_period_expires_date: subscription.gracePeriodExpiresDate,
  will_renew: subscription.willRenew,
  period_type: subscription.periodType,
  source: "subscription" as const,
  environment: subscription.environment
})

/** The subscriber in wire form: both maps hold what once was, too; activity is derived from `now`. */
export const subscriberOf = (
  customer: StoredCustomer,
  owned: ReadonlyArray<OwnedSubscription>,
  unlocks: ReadonlyArray<Unlock>,
  now: string
) => ({
  app_user_id: customer.appUserId,
  original_app_user_id: customer.appUserId,
  is_anonymous: customer.isAnonymous,
  first_seen: customer.firstSeen,
  last_seen: customer.lastSeen,
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
