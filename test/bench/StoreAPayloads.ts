import { randomUUID } from "node:crypto"
import { Array, Effect } from "effect"
import { makeAuthority, type SigningAuthority } from "../../src/simulator/store-a/SigningAuthority.ts"

export const bundleId = "com.example.notes"
const month = 30 * 86_400_000

const notification = (authority: SigningAuthority, nth: number) =>
  Effect.gen(function* () {
    const now = Date.now()
    const id = String(1_000_000 + nth)
    const transaction = yield* authority.sign({
      ...{ originalTransactionId: id, transactionId: id, webOrderLineItemId: `9${id}`, bundleId },
      ...{
        productId: "pro.monthly",
        subscriptionGroupIdentifier: "group",
        purchaseDate: now,
        originalPurchaseDate: now
      },
      ...{
        expiresDate: now + month,
        quantity: 1,
        type: "Auto-Renewable Subscription",
        inAppOwnershipType: "PURCHASED"
      },
      ...{ signedDate: now, environment: "Production", transactionReason: "PURCHASE", storefront: "USA" },
      ...{ storefrontId: "143441", price: 9990, currency: "USD", appAccountToken: randomUUID() }
    })
    const renewal = yield* authority.sign({
      ...{ originalTransactionId: id, productId: "pro.monthly", autoRenewProductId: "pro.monthly", autoRenewStatus: 1 },
      ...{ isInBillingRetryPeriod: false, renewalDate: now + month, renewalPrice: 9990, currency: "USD" },
      ...{ signedDate: now, environment: "Production", recentSubscriptionStartDate: now }
    })
    return yield* authority.sign({
      ...{ notificationType: "SUBSCRIBED", subtype: "INITIAL_BUY", notificationUUID: randomUUID(), version: "2.0" },
      signedDate: now,
      data: {
        ...{ environment: "Production", bundleId, bundleVersion: "1", status: 1 },
        ...{ signedTransactionInfo: transaction, signedRenewalInfo: renewal }
      }
    })
  })

/** First purchases of as many people, signed by one authority. */
export const signedPurchases = (count: number) =>
  Effect.gen(function* () {
    const authority = yield* makeAuthority()
    const payloads = yield* Effect.forEach(
      Array.makeBy(count, (nth) => nth),
      (nth) => notification(authority, nth),
      { concurrency: 8 }
    )
    return { authority, payloads }
  })
