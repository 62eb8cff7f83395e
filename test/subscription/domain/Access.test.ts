import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { accessUntil, isActiveAt, subscriptionsByProduct } from "../../../src/subscription/domain/Access.ts"
import { moment, subscription } from "../../support/Holdings.ts"

const owned = FastCheck.array(subscription, { maxLength: 4 })

describe("Access", () => {
  it.prop("of several active subscriptions the one that lasts longest wins", [owned, moment], ([items, now]) => {
    const best = subscriptionsByProduct(items, now).get("pro.monthly")?.subscription
    assert.strictEqual(best !== undefined, items.length > 0)
    const active = items.filter((item) => isActiveAt(item.subscription, now))
    assert.strictEqual(best !== undefined && isActiveAt(best, now), active.length > 0)
    if (best === undefined || active.length === 0) return
    for (const { subscription } of active) {
      assert.isTrue((accessUntil(best) ?? "") >= (accessUntil(subscription) ?? ""))
    }
  })

  it.prop("no status gives access after its end", [owned], ([items]) => {
    const later = "2040-01-01T00:00:00.000Z"
    assert.isFalse(items.some(({ subscription }) => isActiveAt(subscription, later)))
  })
})
