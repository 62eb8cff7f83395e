import { current, type Notice, type Purchase, renews, type Transaction } from "./Purchase.ts"

const offerTypes = { introductory: 1, promotional: 2, offer_code: 3, win_back: 4 } as const

const wholePercent = 1000

const offerOf = ({ offer }: Pick<Transaction, "offer">) =>
  offer === undefined
    ? {}
    : {
        offerType: offerTypes[offer.kind],
        offerDiscountType: offer.discount,
        ...(offer.identifier === undefined ? {} : { offerIdentifier: offer.identifier }),
        ...(offer.period === undefined ? {} : { offerPeriod: offer.period })
      }

const revocationOf = ({ revocation }: Transaction) =>
  revocation === undefined
    ? {}
    : {
        revocationDate: revocation.date,
        revocationReason: revocation.reason,
        revocationType: revocation.type,
        revocationPercentage: revocation.percentage * wholePercent
      }

const accountOf = ({ terms }: Purchase) =>
  terms.app_account_token === undefined ? {} : { appAccountToken: terms.app_account_token }

/** `JWSTransactionDecodedPayload`, by default of the running period. */
export const transactionPayload = (
  purchase: Purchase,
  signedDate: number,
  transaction: Transaction = current(purchase)
) => ({
  originalTransactionId: purchase.originalTransactionId,
  transactionId: transaction.transactionId,
  appTransactionId: `7${purchase.originalTransactionId}`,
  ...(renews(purchase)
    ? {
        webOrderLineItemId: `9${transaction.transactionId}`,
        subscriptionGroupIdentifier: purchase.terms.group,
        expiresDate: transaction.expiresDate
      }
    : {}),
  bundleId: purchase.terms.bundle_id,
  productId: transaction.productId,
  purchaseDate: transaction.purchaseDate,
  originalPurchaseDate: purchase.transactions[0].purchaseDate,
  quantity: purchase.terms.quantity,
  type: purchase.terms.type,
  inAppOwnershipType: purchase.sharedBy === undefined ? "PURCHASED" : "FAMILY_SHARED",
  signedDate,
  environment: purchase.terms.environment,
  transactionReason: transaction.reason,
  storefront: "USA",
  storefrontId: "143441",
  price: transaction.price,
  currency: purchase.terms.currency,
  ...offerOf(transaction),
  ...accountOf(purchase),
  ...revocationOf(transaction),
  ...(transaction.isUpgraded ? { isUpgraded: true } : {})
})

/** `JWSRenewalInfoDecodedPayload`. */
export const renewalPayload = (purchase: Purchase, signedDate: number) => {
  const { autoRenew, expirationIntent, gracePeriodExpiresDate, next, offer, originalTransactionId, rise, status } =
    purchase
  return {
    originalTransactionId,
    productId: current(purchase).productId,
    autoRenewProductId: next.productId,
    autoRenewStatus: autoRenew ? 1 : 0,
    isInBillingRetryPeriod: status === 3 || status === 4,
    ...(gracePeriodExpiresDate === undefined ? {} : { gracePeriodExpiresDate }),
    ...(expirationIntent === undefined ? {} : { expirationIntent }),
    ...(rise === undefined ? {} : { priceIncreaseStatus: rise.agreed || !rise.needsConsent ? 1 : 0 }),
    ...offerOf({ offer: offer?.terms }),
    renewalDate: current(purchase).expiresDate,
    renewalPrice: offer?.terms.price ?? rise?.price ?? next.price,
    recentSubscriptionStartDate: purchase.transactions.findLast(({ reason }) => reason === "PURCHASE")?.purchaseDate,
    currency: purchase.terms.currency,
    signedDate,
    environment: purchase.terms.environment,
    ...accountOf(purchase)
  }
}

/** What stands inside a notification, besides the two payloads that are signed by themselves. */
export const notificationData = ({ purchase, type }: Notice) => ({
  environment: purchase.terms.environment,
  bundleId: purchase.terms.bundle_id,
  ...(purchase.terms.environment === "Production" ? { appAppleId: purchase.terms.app_apple_id } : {}),
  bundleVersion: "1",
  ...(renews(purchase) ? { status: purchase.status } : {}),
  ...(type === "CONSUMPTION_REQUEST" ? { consumptionRequestReason: "UNINTENDED_PURCHASE" } : {})
})
