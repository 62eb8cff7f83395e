import { createHash } from "node:crypto"
import { DateTime, Option, Order, Record } from "effect"
import {
  type Environment,
  type FactKind,
  type PeriodType,
  PurchaseFact,
  type PurchaseReason,
  RenewalIntent,
  type StoreStatus,
  StoreTransaction
} from "../domain/PurchaseFact.ts"
import type { Origin } from "../StoreB.ts"
import type { LineItem, Money, ProductResource, SubscriptionResource } from "./Resources.ts"

/** What a reading has besides the resource: who asked, when the store answered, and what it said elsewhere. */
export interface Occasion {
  readonly factId: string
  readonly kind: FactKind
  readonly readAt: DateTime.Utc
  readonly purchaseToken: string
  /** Of a purchase that replaced another; none for one that stands alone. */
  readonly origin: Option.Option<Origin>
  /** When the store took an order back, by its own list of voided purchases. */
  readonly voidedAt: (orderId: string) => Option.Option<DateTime.Utc>
}

/**
 * Micros of a sum, exact while the store counts in millionths (billionths are rounded half up); none beyond what a number
 * holds exactly.
 */
export const microsOf = ({ nanos = 0, units = "0" }: Money): Option.Option<number> => {
  const billionths = BigInt(units) * 1_000_000_000n + BigInt(nanos)
  const halfUp = billionths + 500n
  const micros = Number(halfUp / 1000n - (halfUp % 1000n < 0n ? 1n : 0n))
  return Option.liftPredicate(micros, Number.isSafeInteger)
}

const states: { readonly [state: string]: StoreStatus } = {
  SUBSCRIPTION_STATE_ACTIVE: "active",
  SUBSCRIPTION_STATE_CANCELED: "active",
  SUBSCRIPTION_STATE_IN_GRACE_PERIOD: "in_grace_period",
  SUBSCRIPTION_STATE_ON_HOLD: "on_hold",
  SUBSCRIPTION_STATE_PAUSED: "paused",
  SUBSCRIPTION_STATE_EXPIRED: "expired",
  SUBSCRIPTION_STATE_PENDING_PURCHASE_CANCELED: "expired"
}

const unpaid = ["SUBSCRIPTION_STATE_PENDING", "SUBSCRIPTION_STATE_PENDING_PURCHASE_CANCELED"]

/** A first payment that is awaited, or never came: there is nothing yet that could be given or taken. */
export const isUnpaid = (resource: SubscriptionResource): boolean =>
  unpaid.includes(resource.subscriptionState ?? "") &&
  (resource.startTime === undefined || orderOf(resource) === undefined)

const byExpiry = Order.mapInput(Order.number, ({ expiryTime }: LineItem) =>
  expiryTime === undefined ? -Infinity : DateTime.toEpochMillis(expiryTime)
)

/** Of a purchase with add-ons the item that lasts longest, the first of equals. */
const mainItem = ({ lineItems }: SubscriptionResource): LineItem | undefined =>
  lineItems.reduce<LineItem | undefined>(
    (best, item) => (best === undefined || byExpiry(best, item) < 0 ? item : best),
    undefined
  )

const orderOf = (resource: SubscriptionResource): string | undefined =>
  mainItem(resource)?.latestSuccessfulOrderId ?? resource.latestOrderId

const renewalSuffix = /\.\.(\d+)$/

/** The order that began a purchase: renewals have it with `..0`, `..1` and so on behind it. */
export const firstOrder = (orderId: string): string => orderId.replace(renewalSuffix, "")

/** Stands for the order of a purchase that has none. The token itself is a proof of purchase and goes nowhere. */
const unordered = (purchaseToken: string): string =>
  `token-${createHash("sha256").update(purchaseToken).digest("hex").slice(0, 32)}`

const periodsBefore = (orderId: string): number => {
  const suffix = renewalSuffix.exec(orderId)?.[1]
  return suffix === undefined ? 0 : Number(suffix) + 1
}

const reasonOf = (orderId: string): PurchaseReason => (renewalSuffix.test(orderId) ? "renewal" : "purchase")

/**
 * When the running period began. The store tells only when the purchase began and when it ends; it numbers the renewals,
 * so that with n periods before this one the last (n+1)th of the time is it: exact for periods of equal length, and never
 * before an earlier period of the same purchase.
 */
const periodStart = (startedAt: DateTime.Utc, expiresAt: Option.Option<DateTime.Utc>, orderId: string): DateTime.Utc =>
  Option.match(expiresAt, {
    onNone: () => startedAt,
    onSome: (end) => {
      const before = periodsBefore(orderId)
      const whole = Math.max(0, DateTime.distance(startedAt, end))
      return DateTime.add(startedAt, { millis: Math.round((whole * before) / (before + 1)) })
    }
  })

const periodTypeOf = ({ offerPhase }: LineItem): PeriodType => {
  if (offerPhase?.freeTrial !== undefined) return "trial"
  return offerPhase?.introductoryPrice === undefined ? "normal" : "intro"
}

/** Nothing for a trial, the base price where that is charged; what an offer or a proration costs, the store says nowhere. */
const priceOf = ({ autoRenewingPlan, offerPhase }: LineItem): Option.Option<number> => {
  if (offerPhase?.freeTrial !== undefined) return Option.some(0)
  if (offerPhase?.introductoryPrice !== undefined || offerPhase?.prorationPeriod !== undefined) return Option.none()
  return Option.flatMap(Option.fromNullable(autoRenewingPlan?.recurringPrice), microsOf)
}

/** `product:base-plan`, as the catalogue names products of this store. */
export const identifierOf = ({ offerDetails, productId }: LineItem): string =>
  offerDetails?.basePlanId === undefined ? productId : `${productId}:${offerDetails.basePlanId}`

const environmentOf = (test: unknown): Environment => (test === undefined ? "production" : "sandbox")

const renewalOf = (
  { subscriptionState, pausedStateContext }: SubscriptionResource,
  { autoRenewingPlan, deferredItemReplacement, expiryTime, prepaidPlan }: LineItem
): Option.Option<RenewalIntent> => {
  if (prepaidPlan !== undefined && autoRenewingPlan === undefined) return Option.none()
  const next = deferredItemReplacement?.productId
  const isCanceled = subscriptionState === "SUBSCRIPTION_STATE_CANCELED"
  return Option.some(
    RenewalIntent.make({
      willRenew: !isCanceled && (autoRenewingPlan?.autoRenewEnabled === true || next !== undefined),
      nextProductIdentifier: Option.fromNullable(next),
      gracePeriodExpiresDate:
        subscriptionState === "SUBSCRIPTION_STATE_IN_GRACE_PERIOD" ? Option.fromNullable(expiryTime) : Option.none(),
      autoResumeDate: Option.fromNullable(pausedStateContext?.autoResumeTime)
    })
  )
}

const statusOf = (resource: SubscriptionResource, kind: FactKind): StoreStatus => {
  const status = Option.getOrElse(Record.get(states, resource.subscriptionState ?? ""), () => "unknown" as const)
  if (status === "expired" && kind === "revoked") return "revoked"
  return status === "active" && kind === "pause_schedule_changed" ? "paused_pending" : status
}

/** Where a purchase itself began. For one that replaces another this is not the chain's origin. */
export const ownOrigin = (resource: SubscriptionResource, purchaseToken: string, readAt: DateTime.Utc): Origin => ({
  originalTransactionId: firstOrder(orderOf(resource) ?? unordered(purchaseToken)),
  startedAt: resource.startTime ?? readAt
})

/**
 * A subscription as the store shows it, in neutral words (specification part 3, contract part 3 "Subscription states").
 * None while nothing was paid, and for a purchase without items. Total: states and members that we do not know give
 * `unknown`.
 */
export const subscriptionFact = (resource: SubscriptionResource, occasion: Occasion): Option.Option<PurchaseFact> => {
  const item = mainItem(resource)
  if (item === undefined || isUnpaid(resource)) return Option.none()
  const { factId, kind, purchaseToken, readAt } = occasion
  const own = ownOrigin(resource, purchaseToken, readAt)
  const origin = Option.getOrElse(occasion.origin, () => own)
  const transactionId = orderOf(resource) ?? unordered(purchaseToken)
  const expiresDate = Option.fromNullable(item.expiryTime)
  const refundedAt = occasion.voidedAt(transactionId)
  return Option.some(
    PurchaseFact.make({
      factId,
      store: "store_b",
      environment: environmentOf(resource.testPurchase),
      kind: Option.isSome(refundedAt) ? "refunded" : kind,
      signedAt: readAt,
      originalTransactionId: origin.originalTransactionId,
      accountToken: accountTokenOf(resource.externalAccountIdentifiers?.obfuscatedExternalAccountId),
      status: Option.isSome(refundedAt) ? "revoked" : statusOf(resource, kind),
      transaction: StoreTransaction.make({
        transactionId,
        productIdentifier: identifierOf(item),
        productType: "subscription",
        purchaseDate: periodStart(own.startedAt, expiresDate, transactionId),
        originalPurchaseDate: origin.startedAt,
        expiresDate,
        periodType: periodTypeOf(item),
        ownershipType: "purchased",
        priceMicros: priceOf(item),
        currency: Option.fromNullable(item.autoRenewingPlan?.recurringPrice?.currencyCode),
        refundedAt,
        isUpgraded: false,
        reason: Option.map(Option.fromNullable(orderOf(resource)), reasonOf)
      }),
      renewal: renewalOf(resource, item)
    })
  )
}

const accountTokenOf = (text: string | undefined) => Option.filter(Option.fromNullable(text), (token) => token !== "")

/**
 * A one-time purchase, in neutral words: one fact for each of its items. None while it is pending or where it was never
 * completed. What it cost, the store does not say here.
 */
export const productFacts = (resource: ProductResource, occasion: Occasion): ReadonlyArray<PurchaseFact> => {
  const state = resource.purchaseStateContext?.purchaseState
  if (state === "PENDING" || resource.purchaseCompletionTime === undefined) return []
  const { factId, kind, purchaseToken, readAt, voidedAt } = occasion
  const orderId = resource.orderId ?? unordered(purchaseToken)
  const taken = state === "CANCELLED" ? Option.some(readAt) : Option.none<DateTime.Utc>()
  const refundedAt = Option.orElse(voidedAt(orderId), () => taken)
  const status: StoreStatus = state === "PURCHASED" ? "active" : "unknown"
  const purchaseDate = resource.purchaseCompletionTime
  return resource.productLineItem.map(({ productId, productOfferDetails }, index) =>
    PurchaseFact.make({
      factId: index === 0 ? factId : `${factId}:${index}`,
      store: "store_b",
      environment: environmentOf(resource.testPurchaseContext),
      kind: Option.isSome(refundedAt) ? "refunded" : kind,
      signedAt: readAt,
      originalTransactionId: index === 0 ? orderId : `${orderId}:${index}`,
      accountToken: accountTokenOf(resource.obfuscatedExternalAccountId),
      status: Option.isSome(refundedAt) ? "revoked" : status,
      transaction: StoreTransaction.make({
        transactionId: index === 0 ? orderId : `${orderId}:${index}`,
        productIdentifier: productId,
        productType:
          productOfferDetails?.consumptionState === "CONSUMPTION_STATE_CONSUMED" ? "consumable" : "non_consumable",
        purchaseDate,
        originalPurchaseDate: purchaseDate,
        expiresDate: Option.none(),
        periodType: "normal",
        ownershipType: "purchased",
        priceMicros: Option.none(),
        currency: Option.none(),
        refundedAt,
        isUpgraded: false
      }),
      renewal: Option.none()
    })
  )
}

const acknowledgeable = [
  "SUBSCRIPTION_STATE_ACTIVE",
  "SUBSCRIPTION_STATE_CANCELED",
  "SUBSCRIPTION_STATE_IN_GRACE_PERIOD",
  "PURCHASED"
]

/** Whether the store waits for word that the purchase was given to the customer; it refunds what stays without. */
export const awaitsAcknowledgement = (acknowledgementState: string | undefined, state: string | undefined): boolean =>
  acknowledgementState === "ACKNOWLEDGEMENT_STATE_PENDING" && acknowledgeable.includes(state ?? "")
