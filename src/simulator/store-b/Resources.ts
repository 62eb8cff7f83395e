import { isTrial, orderOf, type Plan, type Purchase } from "./Purchase.ts"
import type { NewPurchase } from "./Terms.ts"

const iso = (millis: number) => new Date(millis).toISOString()

const acknowledgementOf = ({ isAcknowledged }: Purchase) =>
  isAcknowledged ? "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED" : "ACKNOWLEDGEMENT_STATE_PENDING"

const moneyOf = (price: number, { currency }: NewPurchase) => {
  const millionths = Math.round(price * 1e6)
  return { currencyCode: currency, units: String(Math.floor(millionths / 1e6)), nanos: (millionths % 1e6) * 1000 }
}

const cancellations = {
  user: "userInitiatedCancellation",
  system: "systemInitiatedCancellation",
  developer: "developerInitiatedCancellation",
  replacement: "replacementCancellation"
} as const

const canceledContext = ({ canceled, state }: Purchase) =>
  canceled === undefined || (state !== "CANCELED" && state !== "EXPIRED")
    ? {}
    : {
        canceledStateContext: {
          [cancellations[canceled.by]]: canceled.by === "user" ? { cancelTime: iso(canceled.at) } : {}
        }
      }

const pendingOrder = (purchase: Purchase) => ({
  renewalDeclined: { pendingOrderId: `${purchase.order}..${purchase.renewals}` }
})

const stateContext = (purchase: Purchase) => {
  const { autoResumeTime, state } = purchase
  if (state === "IN_GRACE_PERIOD") return { inGracePeriodStateContext: pendingOrder(purchase) }
  if (state === "ON_HOLD") return { onHoldStateContext: pendingOrder(purchase) }
  if (autoResumeTime !== undefined) return { pausedStateContext: { autoResumeTime: iso(autoResumeTime) } }
  return canceledContext(purchase)
}

const priceChangeOf = ({ expiryTime, priceChange, terms }: Purchase) =>
  priceChange === undefined
    ? {}
    : {
        priceChangeDetails: {
          newPrice: moneyOf(priceChange.price, terms),
          priceChangeMode: priceChange.mode,
          priceChangeState: priceChange.state,
          expectedNewPriceChargeTime: iso(expiryTime)
        }
      }

const planOf = (purchase: Purchase) =>
  purchase.terms.prepaid
    ? { prepaidPlan: { allowExtendAfterTime: iso(purchase.startTime) } }
    : {
        autoRenewingPlan: {
          autoRenewEnabled: purchase.autoRenew,
          recurringPrice: moneyOf(purchase.plan.price, purchase.terms),
          ...priceChangeOf(purchase)
        }
      }

const isSame = (one: Plan, other: Plan) => one.productId === other.productId && one.basePlanId === other.basePlanId

const phaseOf = (purchase: Purchase) => {
  if (isTrial(purchase)) return { freeTrial: {} }
  return purchase.phase === undefined ? { basePrice: {} } : { introductoryPrice: {} }
}

const isPaid = ({ state }: Purchase) => state !== "PENDING" && state !== "PENDING_PURCHASE_CANCELED"

const lineItem = (purchase: Purchase) => {
  const { expiryTime, next, phase, plan, terms } = purchase
  return {
    productId: plan.productId,
    ...(expiryTime === Infinity ? {} : { expiryTime: iso(expiryTime) }),
    ...(isPaid(purchase) ? { latestSuccessfulOrderId: orderOf(purchase) } : {}),
    ...planOf(purchase),
    offerDetails: {
      ...(plan.basePlanId === undefined ? {} : { basePlanId: plan.basePlanId }),
      ...(phase?.offer_id === undefined ? {} : { offerId: phase.offer_id })
    },
    offerPhase: phaseOf(purchase),
    ...(isSame(plan, next) ? {} : { deferredItemReplacement: { productId: next.productId } }),
    ...(terms.promotion_code === undefined
      ? {}
      : { signupPromotion: { vanityCode: { promotionCode: terms.promotion_code } } })
  }
}

/** `SubscriptionPurchaseV2`. */
export const subscriptionResource = (purchase: Purchase) => {
  const { expiredPurchaseToken, isAcknowledged, linkedPurchaseToken, startTime, state, terms } = purchase
  return {
    kind: "androidpublisher#subscriptionPurchaseV2",
    regionCode: "US",
    subscriptionState: `SUBSCRIPTION_STATE_${state}`,
    acknowledgementState: acknowledgementOf(purchase),
    ...(isPaid(purchase) ? { startTime: iso(startTime) } : {}),
    ...(linkedPurchaseToken === undefined ? {} : { linkedPurchaseToken }),
    ...(expiredPurchaseToken === undefined || isAcknowledged
      ? {}
      : { outOfAppPurchaseContext: { expiredPurchaseToken } }),
    ...stateContext(purchase),
    ...(terms.test ? { testPurchase: {} } : {}),
    ...(terms.obfuscated_account_id === undefined
      ? {}
      : { externalAccountIdentifiers: { obfuscatedExternalAccountId: terms.obfuscated_account_id } }),
    lineItems: [lineItem(purchase)]
  }
}

/** `ProductPurchaseV2`. */
export const productResource = (purchase: Purchase) => {
  const { isConsumed, order, plan, refundedQuantity, startTime, state, terms } = purchase
  return {
    kind: "androidpublisher#productPurchaseV2",
    regionCode: "US",
    orderId: order,
    purchaseStateContext: { purchaseState: state === "ACTIVE" ? "PURCHASED" : state },
    ...(state === "PENDING" ? {} : { purchaseCompletionTime: iso(startTime) }),
    acknowledgementState: acknowledgementOf(purchase),
    ...(terms.test ? { testPurchaseContext: { fopType: "TEST" } } : {}),
    ...(terms.obfuscated_account_id === undefined ? {} : { obfuscatedExternalAccountId: terms.obfuscated_account_id }),
    productLineItem: [
      {
        productId: plan.productId,
        productOfferDetails: {
          quantity: terms.quantity,
          refundableQuantity: state === "ACTIVE" ? terms.quantity - refundedQuantity : 0,
          consumptionState: isConsumed ? "CONSUMPTION_STATE_CONSUMED" : "CONSUMPTION_STATE_YET_TO_BE_CONSUMED"
        }
      }
    ]
  }
}

const states: { readonly [state: string]: number } = { ACTIVE: 0, CANCELLED: 1, PENDING: 2 }

/** `ProductPurchase`, the older form. */
export const olderProductResource = (purchase: Purchase) => {
  const { isAcknowledged, isConsumed, order, plan, refundedQuantity, startTime, state, terms } = purchase
  return {
    kind: "androidpublisher#productPurchase",
    orderId: order,
    productId: plan.productId,
    purchaseTimeMillis: String(startTime),
    purchaseState: states[state] ?? 1,
    consumptionState: isConsumed ? 1 : 0,
    acknowledgementState: isAcknowledged ? 1 : 0,
    quantity: terms.quantity,
    refundableQuantity: terms.quantity - refundedQuantity,
    regionCode: "US",
    ...(terms.test ? { purchaseType: 0 } : {}),
    ...(terms.obfuscated_account_id === undefined ? {} : { obfuscatedExternalAccountId: terms.obfuscated_account_id })
  }
}
