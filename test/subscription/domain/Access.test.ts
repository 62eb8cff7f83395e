import { assert, describe, it } from "@effect/vitest"
import { DateTime, FastCheck, Option } from "effect"
import { entitlementsOf, subscriptionsByProduct } from "../../../src/subscription/domain/Access.ts"
import { replay } from "../../../src/subscription/domain/Lifecycle.ts"
import { history } from "../../support/PurchaseFacts.ts"

const owned = FastCheck.array(history.map((facts) => ({ subscription: replay(facts).subscription })), { maxLength: 4 })
const moment = FastCheck.integer({ min: 0, max: 400 }).map((days) =>
  DateTime.unsafeMake(Date.UTC(2026, 0, 1) + days * 86_400_000)
)
const unlocks = [{ store: "store_a", productIdentifier: "pro.monthly", entitlementIdentifier: "pro" }] as const

describe("Access", () => {
  it.prop("an entitlement is active exactly when a subscription that unlocks it is", [owned, moment], ([items, now]) => {
    const found = entitlementsOf(items, unlocks, now).get("pro")
    assert.strictEqual(found !== undefined, items.length > 0)
    assert.strictEqual(
      found?.subscription.isActive(now) ?? false,
      items.some(({ subscription }) => subscription.isActive(now))
    )
  })

  it.prop("of several active sources the one that lasts longest wins", [owned, moment], ([items, now]) => {
    const best = subscriptionsByProduct(items, now).get("pro.monthly")?.subscription
    if (best === undefined || !best.isActive(now)) return
    for (const { subscription } of items.filter((item) => item.subscription.isActive(now))) {
      const end = Option.getOrThrow(subscription.accessUntil)
      assert.isTrue(DateTime.greaterThanOrEqualTo(Option.getOrThrow(best.accessUntil), end))
    }
  })

  it.prop("no status gives access after its end", [owned], ([items]) => {
    const later = DateTime.unsafeMake(Date.UTC(2040, 0, 1))
    assert.isFalse(items.some(({ subscription }) => subscription.isActive(later)))
  })
})
