import { Schema } from "effect"

const flag = Schema.optionalWith(Schema.Boolean, { default: () => false })

/** What a control call says about a new purchase. `price` is in units of the currency. */
export const NewPurchase = Schema.Struct({
  package_name: Schema.NonEmptyString,
  product_id: Schema.NonEmptyString,
  base_plan_id: Schema.optional(Schema.NonEmptyString),
  one_time: flag,
  obfuscated_account_id: Schema.optional(Schema.String),
  price: Schema.optionalWith(Schema.Number.pipe(Schema.between(0, 1e9)), { default: () => 9.99 }),
  currency: Schema.optionalWith(Schema.String, { default: () => "USD" }),
  period_seconds: Schema.optionalWith(Schema.Positive, { default: () => 2_592_000 }),
  trial: flag,
  pending: flag,
  test: flag,
  notification_url: Schema.optional(Schema.String),
  push_audience: Schema.optional(Schema.String)
})
export type NewPurchase = typeof NewPurchase.Type

/** One purchase token as the store sees it; times in milliseconds since the epoch. */
export interface Purchase {
  readonly terms: NewPurchase
  readonly token: string
  readonly order: string
  readonly startTime: number
  readonly expiryTime: number
  readonly renewals: number
  /** The end of `subscriptionState` or `purchaseState`. */
  readonly state: string
  readonly isTrial: boolean
  readonly autoRenew: boolean
  readonly isAcknowledged: boolean
  readonly linkedPurchaseToken: string | undefined
  readonly autoResumeTime: number | undefined
}

const iso = (millis: number) => new Date(millis).toISOString()

export const orderOf = ({ order, renewals }: Purchase): string => (renewals === 0 ? order : `${order}..${renewals - 1}`)

const acknowledgementOf = ({ isAcknowledged }: Purchase) =>
  isAcknowledged ? "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED" : "ACKNOWLEDGEMENT_STATE_PENDING"

const moneyOf = ({ currency, price }: NewPurchase) => {
  const millionths = Math.round(price * 1e6)
  return { currencyCode: currency, units: String(Math.floor(millionths / 1e6)), nanos: (millionths % 1e6) * 1000 }
}

/** `SubscriptionPurchaseV2`. */
export const subscriptionResource = (purchase: Purchase) => {
  const { autoRenew, autoResumeTime, expiryTime, isTrial, linkedPurchaseToken, startTime, state, terms } = purchase
  const isPaid = !state.startsWith("PENDING")
  return {
    kind: "androidpublisher#subscriptionPurchaseV2",
    regionCode: "US",
    subscriptionState: `SUBSCRIPTION_STATE_${state}`,
    acknowledgementState: acknowledgementOf(purchase),
    ...(isPaid ? { startTime: iso(startTime) } : {}),
    ...(linkedPurchaseToken === undefined ? {} : { linkedPurchaseToken }),
    ...(autoResumeTime === undefined ? {} : { pausedStateContext: { autoResumeTime: iso(autoResumeTime) } }),
    ...(terms.test ? { testPurchase: {} } : {}),
    ...(terms.obfuscated_account_id === undefined
      ? {}
      : { externalAccountIdentifiers: { obfuscatedExternalAccountId: terms.obfuscated_account_id } }),
    lineItems: [
      {
        productId: terms.product_id,
        expiryTime: iso(expiryTime),
        ...(isPaid ? { latestSuccessfulOrderId: orderOf(purchase) } : {}),
        autoRenewingPlan: { autoRenewEnabled: autoRenew, recurringPrice: moneyOf(terms) },
        offerDetails: terms.base_plan_id === undefined ? {} : { basePlanId: terms.base_plan_id },
        offerPhase: isTrial ? { freeTrial: {} } : { basePrice: {} }
      }
    ]
  }
}

/** `ProductPurchaseV2`. */
export const productResource = (purchase: Purchase) => {
  const { order, startTime, state, terms } = purchase
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
        productId: terms.product_id,
        productOfferDetails: { quantity: 1, consumptionState: "CONSUMPTION_STATE_YET_TO_BE_CONSUMED" }
      }
    ]
  }
}
