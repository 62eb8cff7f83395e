import { Schema } from "effect"

const Moment = Schema.optional(Schema.DateTimeUtcFromNumber)
const Text = Schema.optional(Schema.String)

/** The store's words for where a purchase was made; anything else is never signed for servers. */
const StoreEnvironment = Schema.Literal("Production", "Sandbox")

/** `responseBodyV2DecodedPayload`, as far as it is used. Unknown types and members are let through. */
export const NotificationPayload = Schema.parseJson(
  Schema.Struct({
    notificationType: Schema.String,
    subtype: Text,
    notificationUUID: Schema.NonEmptyString,
    signedDate: Schema.DateTimeUtcFromNumber,
    data: Schema.optional(
      Schema.Struct({
        environment: Schema.optional(Schema.String),
        bundleId: Text,
        signedTransactionInfo: Text,
        signedRenewalInfo: Text,
        status: Schema.optional(Schema.Number)
      })
    ),
    summary: Schema.optional(Schema.Struct({ environment: Text, bundleId: Text })),
    appData: Schema.optional(Schema.Struct({ environment: Text, bundleId: Text })),
    externalPurchaseToken: Schema.optional(Schema.Struct({ externalPurchaseId: Text }))
  })
)
export type NotificationPayload = typeof NotificationPayload.Type

/** `JWSTransactionDecodedPayload`. Prices are milliunits of `currency`, times milliseconds. */
export const TransactionPayload = Schema.parseJson(
  Schema.Struct({
    bundleId: Schema.String,
    environment: StoreEnvironment,
    transactionId: Schema.NonEmptyString,
    originalTransactionId: Schema.NonEmptyString,
    productId: Schema.NonEmptyString,
    type: Schema.String,
    purchaseDate: Schema.DateTimeUtcFromNumber,
    originalPurchaseDate: Schema.DateTimeUtcFromNumber,
    expiresDate: Moment,
    signedDate: Schema.DateTimeUtcFromNumber,
    appAccountToken: Text,
    inAppOwnershipType: Text,
    revocationDate: Moment,
    revocationType: Text,
    revocationPercentage: Schema.optional(Schema.Number),
    isUpgraded: Schema.optional(Schema.Boolean),
    offerType: Schema.optional(Schema.Number),
    offerDiscountType: Text,
    price: Schema.optional(Schema.Int.pipe(Schema.between(0, 1e12))),
    currency: Text,
    transactionReason: Text
  })
)
export type TransactionPayload = typeof TransactionPayload.Type

/** `JWSRenewalInfoDecodedPayload`: it names no bundle; its chain id ties it to the transaction. */
export const RenewalPayload = Schema.parseJson(
  Schema.Struct({
    originalTransactionId: Schema.NonEmptyString,
    environment: StoreEnvironment,
    autoRenewStatus: Schema.optional(Schema.Number),
    autoRenewProductId: Text,
    gracePeriodExpiresDate: Moment,
    isInBillingRetryPeriod: Schema.optional(Schema.Boolean)
  })
)
export type RenewalPayload = typeof RenewalPayload.Type
