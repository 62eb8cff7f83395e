import { assert, describe, it } from "@effect/vitest"
import { DateTime, FastCheck, Schema } from "effect"
import {
  accessUntil,
  entitlementsOf,
  isActiveAt,
  subscriptionsByProduct
} from "../../../src/subscription/domain/Access.ts"
import { replay } from "../../../src/subscription/domain/Lifecycle.ts"
import { Subscription, SubscriptionId } from "../../../src/subscription/domain/Subscription.ts"
import { history } from "../../support/PurchaseFacts.ts"

const id = SubscriptionId.make("01a1fd14-94fa-7000-8000-00c4e62d5152")
const encode = Schema.encodeSync(Subscription)
const owned = FastCheck.array(
  history.map((facts) => ({ id, subscription: encode(replay(facts).subscription) })),
  { maxLength: 4 }
)
const moment = FastCheck.integer({ min: 0, max: 400 }).map((days) =>
  DateTime.formatIso(DateTime.unsafeMake(Date.UTC(2026, 0, 1) + days * 86_400_000))
)
const unlocks = [{ store: "store_a", productIdentifier: "pro.monthly", entitlementIdentifier: "pro" }] as const

describe("Access", () => {
  it.prop(
    "an entitlement is active exactly when a subscription that unlocks it is",
    [owned, moment],
    ([items, now]) => {
      const found = entitlementsOf(items, unlocks, now).get("pro")
      assert.strictEqual(found !== undefined, items.length > 0)
      assert.strictEqual(
        found !== undefined && isActiveAt(found.subscription, now),
        items.some(({ subscription }) => isActiveAt(subscription, now))
      )
    }
  )

  it.prop("of several active sources the one that lasts longest wins", [owned, moment], ([items, now]) => {
    const best = subscriptionsByProduct(items, now).get("pro.monthly")?.subscription
    if (best === undefined || !isActiveAt(best, now)) return
    for (const { subscription } of items.filter((item) => isActiveAt(item.subscription, now))) {
      assert.isTrue((accessUntil(best) ?? "") >= (accessUntil(subscription) ?? ""))
    }
  })

  it.prop("no status gives access after its end", [owned], ([items]) => {
    const later = "2040-01-01T00:00:00.000Z"
    assert.isFalse(items.some(({ subscription }) => isActiveAt(subscription, later)))
  })
})
