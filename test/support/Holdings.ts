import { DateTime, FastCheck, Schema } from "effect"
import type { Holdings, OwnedGrant, OwnedPurchase } from "../../src/subscription/domain/Entitlements.ts"
import { GrantId } from "../../src/subscription/domain/Grant.ts"
import { replay } from "../../src/subscription/domain/Lifecycle.ts"
import { Subscription, SubscriptionId } from "../../src/subscription/domain/Subscription.ts"
import { history } from "./PurchaseFacts.ts"

const id = "01a1fd14-94fa-7000-8000-00c4e62d5152"
const encode = Schema.encodeSync(Subscription)

/** A moment within the year and a bit in which the generated things happen, as ISO 8601 text. */
export const moment = FastCheck.integer({ min: 0, max: 400 }).map((days) =>
  DateTime.formatIso(DateTime.unsafeMake(Date.UTC(2026, 0, 1) + days * 86_400_000))
)

export const subscription = history.map((facts) => ({
  id: SubscriptionId.make(id),
  subscription: encode(replay(facts).subscription),
  unlocks: ["pro"]
}))

const momentOrNull = FastCheck.option(moment)

const grant: FastCheck.Arbitrary<OwnedGrant> = FastCheck.record({
  id: FastCheck.constant(GrantId.make(id)),
  entitlementIdentifier: FastCheck.constantFrom("pro", "gold"),
  grantedAt: moment,
  expiresDate: momentOrNull,
  revokedAt: momentOrNull
})

const purchase: FastCheck.Arbitrary<OwnedPurchase> = FastCheck.record({
  id: FastCheck.constant(id),
  store: FastCheck.constant("store_a" as const),
  environment: FastCheck.constant("production" as const),
  productIdentifier: FastCheck.constantFrom("coins", "lifetime"),
  storeTransactionId: FastCheck.constant("1"),
  originalTransactionId: FastCheck.constant("1"),
  purchaseDate: moment,
  expiresDate: momentOrNull,
  refundedAt: momentOrNull,
  priceMicros: FastCheck.option(FastCheck.nat(100_000_000)),
  currency: FastCheck.option(FastCheck.constant("USD")),
  unlocks: FastCheck.subarray(["pro", "gold"])
})

export const holdings: FastCheck.Arbitrary<Holdings> = FastCheck.record({
  subscriptions: FastCheck.array(subscription, { maxLength: 3 }),
  purchases: FastCheck.array(purchase, { maxLength: 3 }),
  grants: FastCheck.array(grant, { maxLength: 3 })
})
