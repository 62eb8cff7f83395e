import { Schema } from "effect"

/** What a control call says about a new purchase. `price` is in milliunits, as the store counts. */
export const NewPurchase = Schema.Struct({
  bundle_id: Schema.NonEmptyString,
  product_id: Schema.NonEmptyString,
  app_account_token: Schema.optional(Schema.String),
  price: Schema.optionalWith(Schema.Int, { default: () => 9990 }),
  currency: Schema.optionalWith(Schema.String, { default: () => "USD" }),
  period_seconds: Schema.optionalWith(Schema.Positive, { default: () => 2_592_000 }),
  /** `Non-Consumable` and `Consumable` are bought once and never renew. */
  type: Schema.optionalWith(Schema.Literal("Auto-Renewable Subscription", "Non-Consumable", "Consumable"), {
    default: () => "Auto-Renewable Subscription" as const
  }),
  trial: Schema.optionalWith(Schema.Boolean, { default: () => false }),
  environment: Schema.optionalWith(Schema.Literal("Production", "Sandbox"), { default: () => "Production" as const }),
  notification_url: Schema.optional(Schema.String)
})
export type NewPurchase = typeof NewPurchase.Type

/** One subscription as the store sees it; times in milliseconds since the epoch. */
export interface Purchase {
  readonly terms: NewPurchase
  readonly originalTransactionId: string
  readonly originalPurchaseDate: number
  readonly transactionId: string
  readonly purchaseDate: number
  readonly expiresDate: number
  readonly isTrial: boolean
  readonly autoRenew: boolean
  /** 1 active, 2 expired, 3 billing retry, 4 grace period, 5 revoked. */
  readonly status: 1 | 2 | 3 | 4 | 5
  readonly gracePeriodExpiresDate: number | undefined
  readonly revocationDate: number | undefined
}

/** Whether it is a subscription: only those have a status, a period and an intent to renew. */
export const renews = ({ terms }: Purchase): boolean => terms.type === "Auto-Renewable Subscription"

/** `JWSTransactionDecodedPayload` of the running period. */
export const transactionPayload = (purchase: Purchase, signedDate: number) => ({
  originalTransactionId: purchase.originalTransactionId,
  transactionId: purchase.transactionId,
  webOrderLineItemId: `9${purchase.transactionId}`,
  bundleId: purchase.terms.bundle_id,
  productId: purchase.terms.product_id,
  subscriptionGroupIdentifier: "simulated",
  purchaseDate: purchase.purchaseDate,
  originalPurchaseDate: purchase.originalPurchaseDate,
  ...(renews(purchase) ? { expiresDate: purchase.expiresDate } : {}),
  quantity: 1,
  type: purchase.terms.type,
  inAppOwnershipType: "PURCHASED",
  signedDate,
  environment: purchase.terms.environment,
  transactionReason: purchase.transactionId === purchase.originalTransactionId ? "PURCHASE" : "RENEWAL",
  storefront: "USA",
  storefrontId: "143441",
  price: purchase.isTrial ? 0 : purchase.terms.price,
  currency: purchase.terms.currency,
  ...(purchase.isTrial ? { offerType: 1, offerDiscountType: "FREE_TRIAL" } : {}),
  ...(purchase.terms.app_account_token === undefined ? {} : { appAccountToken: purchase.terms.app_account_token }),
  ...(purchase.revocationDate === undefined ? {} : { revocationDate: purchase.revocationDate, revocationReason: 0 })
})

/** `JWSRenewalInfoDecodedPayload`. */
export const renewalPayload = (purchase: Purchase, signedDate: number) => ({
  originalTransactionId: purchase.originalTransactionId,
  productId: purchase.terms.product_id,
  autoRenewProductId: purchase.terms.product_id,
  autoRenewStatus: purchase.autoRenew ? 1 : 0,
  isInBillingRetryPeriod: purchase.status === 3 || purchase.status === 4,
  ...(purchase.gracePeriodExpiresDate === undefined ? {} : { gracePeriodExpiresDate: purchase.gracePeriodExpiresDate }),
  renewalDate: purchase.expiresDate,
  renewalPrice: purchase.terms.price,
  currency: purchase.terms.currency,
  signedDate,
  environment: purchase.terms.environment
})
