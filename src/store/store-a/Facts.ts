import { DateTime, Option, Record } from "effect"
import type { ProductType } from "../../catalog/domain/Product.ts"
import {
  type FactKind,
  type PeriodType,
  PurchaseFact,
  type PurchaseReason,
  RenewalIntent,
  type StoreStatus,
  StoreTransaction
} from "../domain/PurchaseFact.ts"
import type { NotificationPayload, RenewalPayload, TransactionPayload } from "./Payloads.ts"

const kinds: { readonly [type: string]: FactKind } = {
  SUBSCRIBED: "purchased",
  ONE_TIME_CHARGE: "purchased",
  DID_RENEW: "renewed",
  "DID_RENEW/BILLING_RECOVERY": "recovered",
  DID_FAIL_TO_RENEW: "renewal_failed",
  GRACE_PERIOD_EXPIRED: "grace_period_expired",
  EXPIRED: "expired",
  "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED": "renewal_disabled",
  "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED": "renewal_enabled",
  DID_CHANGE_RENEWAL_STATUS: "observed",
  "DID_CHANGE_RENEWAL_PREF/UPGRADE": "product_changed",
  "DID_CHANGE_RENEWAL_PREF/DOWNGRADE": "product_change_scheduled",
  DID_CHANGE_RENEWAL_PREF: "product_change_canceled",
  OFFER_REDEEMED: "observed",
  "OFFER_REDEEMED/UPGRADE": "product_changed",
  "OFFER_REDEEMED/DOWNGRADE": "product_change_scheduled",
  PRICE_INCREASE: "price_change",
  REFUND: "refunded",
  REFUND_REVERSED: "refund_reversed",
  REVOKE: "revoked",
  RENEWAL_EXTENDED: "extended",
  PRICE_CHANGE: "price_change",
  METADATA_UPDATE: "observed",
  MIGRATION: "observed"
}

/** The neutral word for a notification; none for one that changes no purchase. The subtype decides where it matters. */
export const kindOf = (type: string, subtype: Option.Option<string>): Option.Option<FactKind> =>
  Option.orElse(
    Option.flatMap(subtype, (sub) => Record.get(kinds, `${type}/${sub}`)),
    () => Record.get(kinds, type)
  )

const statuses: { readonly [code: number]: StoreStatus } = {
  1: "active",
  2: "expired",
  3: "in_billing_retry",
  4: "in_grace_period",
  5: "revoked"
}

const productTypes: { readonly [type: string]: ProductType } = {
  "Auto-Renewable Subscription": "subscription",
  "Non-Renewing Subscription": "non_renewing_subscription",
  "Non-Consumable": "non_consumable",
  Consumable: "consumable"
}

const periodTypeOf = (transaction: TransactionPayload): PeriodType => {
  if (transaction.offerDiscountType === "FREE_TRIAL") return "trial"
  if (transaction.offerType === undefined) return "normal"
  return transaction.offerType === 1 ? "intro" : "promotional"
}

const microsPerMilliunit = 1000
/** `revocationPercentage` of all. */
const whole = 100_000

const priceOf = ({ price }: TransactionPayload) =>
  Option.map(Option.fromNullable(price), (milliunits) => Math.round(milliunits * microsPerMilliunit))

/** Part of the price that went back, where that is not all of it: an upgrade gives back what is left of the period. */
const refundedPart = (transaction: TransactionPayload): Option.Option<number> =>
  Option.flatMap(Option.fromNullable(transaction.revocationPercentage), (percentage) =>
    percentage > 0 && percentage < whole
      ? Option.map(priceOf(transaction), (micros) => Math.round((micros / whole) * percentage))
      : Option.none()
  )

const renews = ({ type }: TransactionPayload): boolean => productTypes[type] === "subscription"

/**
 * When a purchase was taken back. A renewing one that was shared in a family was never paid for, so that its end is told
 * by the status; one that was left for a better one is not taken back.
 */
const refundedAtOf = (transaction: TransactionPayload): Option.Option<DateTime.Utc> =>
  Option.filter(
    Option.fromNullable(transaction.revocationDate),
    () =>
      !renews(transaction) ||
      (transaction.inAppOwnershipType !== "FAMILY_SHARED" &&
        transaction.revocationType !== "FAMILY_REVOKE" &&
        transaction.isUpgraded !== true)
  )

const reasons: { readonly [reason: string]: PurchaseReason } = { PURCHASE: "purchase", RENEWAL: "renewal" }

/** The payloads were decoded, and with that checked. */
const checked = { disableValidation: true }

const transactionOf = (transaction: TransactionPayload): StoreTransaction =>
  StoreTransaction.make(
    {
      transactionId: transaction.transactionId,
      productIdentifier: transaction.productId,
      productType: Option.getOrElse(Record.get(productTypes, transaction.type), () => "non_consumable" as const),
      purchaseDate: transaction.purchaseDate,
      originalPurchaseDate: transaction.originalPurchaseDate,
      expiresDate: Option.fromNullable(transaction.expiresDate),
      periodType: periodTypeOf(transaction),
      ownershipType: transaction.inAppOwnershipType === "FAMILY_SHARED" ? "family_shared" : "purchased",
      priceMicros: priceOf(transaction),
      currency: Option.fromNullable(transaction.currency),
      refundedAt: refundedAtOf(transaction),
      refundedMicros: refundedPart(transaction),
      isUpgraded: transaction.isUpgraded === true,
      reason: Record.get(reasons, transaction.transactionReason ?? "")
    },
    checked
  )

const renewalOf = (renewal: RenewalPayload): RenewalIntent =>
  RenewalIntent.make(
    {
      willRenew: renewal.autoRenewStatus === 1,
      nextProductIdentifier: Option.fromNullable(renewal.autoRenewProductId),
      gracePeriodExpiresDate: Option.fromNullable(renewal.gracePeriodExpiresDate)
    },
    checked
  )

/** The store's own status; what never renews has none. */
const statusOf = (transaction: TransactionPayload, code: Option.Option<number>): StoreStatus => {
  if (Option.isNone(code) && !renews(transaction))
    return transaction.revocationDate === undefined ? "active" : "revoked"
  return statuses[Option.getOrElse(code, () => 0)] ?? "unknown"
}

/** A notification and what it carries, in neutral words. Total: every combination of decoded parts has an answer. */
export const factOf = (
  notification: NotificationPayload,
  transaction: TransactionPayload,
  renewal: Option.Option<RenewalPayload>
): Option.Option<PurchaseFact> =>
  Option.map(kindOf(notification.notificationType, Option.fromNullable(notification.subtype)), (kind) =>
    PurchaseFact.make(
      {
        factId: notification.notificationUUID,
        store: "store_a",
        environment: transaction.environment === "Production" ? "production" : "sandbox",
        kind,
        signedAt: notification.signedDate,
        originalTransactionId: transaction.originalTransactionId,
        accountToken: Option.fromNullable(transaction.appAccountToken),
        status: statusOf(transaction, Option.fromNullable(notification.data?.status)),
        transaction: transactionOf(transaction),
        renewal: Option.map(renewal, renewalOf)
      },
      checked
    )
  )

/**
 * What the store says when it is asked: `state` is the chain's own, none for what never renews. Its id is made of
 * transaction and signing time, so that the same words are one statement.
 */
export const observedFact = (
  transaction: TransactionPayload,
  state: Option.Option<{ readonly renewal: RenewalPayload; readonly status: number }>
): PurchaseFact =>
  PurchaseFact.make({
    factId: `read:${transaction.transactionId}:${DateTime.toEpochMillis(transaction.signedDate)}`,
    store: "store_a",
    environment: transaction.environment === "Production" ? "production" : "sandbox",
    kind: "observed",
    signedAt: transaction.signedDate,
    originalTransactionId: transaction.originalTransactionId,
    accountToken: Option.fromNullable(transaction.appAccountToken),
    status: statusOf(
      transaction,
      Option.map(state, ({ status }) => status)
    ),
    transaction: transactionOf(transaction),
    renewal: Option.map(state, ({ renewal }) => renewalOf(renewal))
  })
