import { Schema } from "effect"

const Text = Schema.optional(Schema.String)
const Moment = Schema.optional(Schema.DateTimeUtc)
const Present = Schema.optional(Schema.Unknown)

/** `Money`: whole units as int64 text, and billionths. */
export const Money = Schema.Struct({
  currencyCode: Schema.NonEmptyString,
  units: Schema.optional(Schema.String.pipe(Schema.pattern(/^-?\d{1,19}$/))),
  nanos: Schema.optional(Schema.Int.pipe(Schema.between(-999_999_999, 999_999_999)))
})
export type Money = typeof Money.Type

const LineItem = Schema.Struct({
  productId: Schema.NonEmptyString,
  expiryTime: Moment,
  latestSuccessfulOrderId: Text,
  autoRenewingPlan: Schema.optional(
    Schema.Struct({ autoRenewEnabled: Schema.optional(Schema.Boolean), recurringPrice: Schema.optional(Money) })
  ),
  prepaidPlan: Present,
  offerDetails: Schema.optional(Schema.Struct({ basePlanId: Text, offerId: Text })),
  offerPhase: Schema.optional(
    Schema.Struct({ freeTrial: Present, introductoryPrice: Present, basePrice: Present, prorationPeriod: Present })
  ),
  deferredItemReplacement: Schema.optional(Schema.Struct({ productId: Text }))
})
export type LineItem = typeof LineItem.Type

/** `SubscriptionPurchaseV2`, as far as it is used. States are text: the store adds new ones. */
export const SubscriptionResource = Schema.Struct({
  subscriptionState: Text,
  startTime: Moment,
  latestOrderId: Text,
  linkedPurchaseToken: Text,
  pausedStateContext: Schema.optional(Schema.Struct({ autoResumeTime: Moment })),
  testPurchase: Present,
  acknowledgementState: Text,
  externalAccountIdentifiers: Schema.optional(Schema.Struct({ obfuscatedExternalAccountId: Text })),
  lineItems: Schema.optionalWith(Schema.Array(LineItem), { default: () => [] })
})
export type SubscriptionResource = typeof SubscriptionResource.Type

/** `ProductPurchaseV2`, as far as it is used. */
export const ProductResource = Schema.Struct({
  productLineItem: Schema.optionalWith(
    Schema.Array(
      Schema.Struct({
        productId: Schema.NonEmptyString,
        productOfferDetails: Schema.optional(Schema.Struct({ consumptionState: Text }))
      })
    ),
    { default: () => [] }
  ),
  purchaseStateContext: Schema.optional(Schema.Struct({ purchaseState: Text })),
  purchaseCompletionTime: Moment,
  orderId: Text,
  acknowledgementState: Text,
  obfuscatedExternalAccountId: Text,
  testPurchaseContext: Present
})
export type ProductResource = typeof ProductResource.Type

/** The list of voided purchases; times are milliseconds as int64 text. */
export const VoidedResource = Schema.Struct({
  voidedPurchases: Schema.optionalWith(
    Schema.Array(
      Schema.Struct({
        purchaseToken: Schema.String,
        orderId: Text,
        voidedTimeMillis: Schema.NumberFromString.pipe(Schema.compose(Schema.DateTimeUtcFromNumber))
      })
    ),
    { default: () => [] }
  ),
  tokenPagination: Schema.optional(Schema.Struct({ nextPageToken: Text }))
})
