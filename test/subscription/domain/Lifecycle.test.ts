import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Array, FastCheck, Option, Schema } from "effect"
import type { PurchaseFact } from "../../../src/store/domain/PurchaseFact.ts"
import { evolve, replay } from "../../../src/subscription/domain/Lifecycle.ts"
import { Subscription } from "../../../src/subscription/domain/Subscription.ts"
import { factOf, history } from "../../support/PurchaseFacts.ts"

type Facts = readonly [PurchaseFact, ...Array<PurchaseFact>]

const encode = Schema.encodeSync(Subscription)
const slots = (facts: Facts) => replay(facts).changes.map(({ slot }) => slot)
const types = (facts: Facts) => replay(facts).changes.map(({ type }) => type)

const shuffled = FastCheck.tuple(
  history,
  FastCheck.array(FastCheck.nat(), { minLength: 64, maxLength: 64 }),
  FastCheck.array(FastCheck.nat(30), { maxLength: 20 })
).map(([facts, keys, repeats]) => {
  const repeated = [...facts, ...repeats.flatMap((index) => Option.toArray(Array.get(facts, index)))]
  const order = repeated
    .map((fact, index) => ({ fact, key: keys[index % keys.length] ?? 0 }))
    .sort((left, right) => left.key - right.key)
    .map(({ fact }) => fact)
  return { facts, arrival: Array.isNonEmptyReadonlyArray(order) ? order : facts }
})

const step = { period: 0, status: "active", willRenew: true } as const

describe("Lifecycle", () => {
  it.prop(
    "any order and any repetition of the same facts ends in the same state",
    [shuffled],
    ([{ arrival, facts }]) => {
      deepStrictEqual(encode(replay(arrival).subscription), encode(replay(facts).subscription))
      deepStrictEqual([...replay(arrival).transactions.keys()], [...replay(facts).transactions.keys()])
    }
  )

  it.prop("each change has a slot of its own", [history], ([facts]) => {
    const found = slots(facts)
    assert.strictEqual(new Set(found).size, found.length)
  })

  it.prop(
    "facts that arrive one at a time in any order fill every slot that the ordered history has",
    [shuffled],
    ([{ arrival, facts }]) => {
      const recorded = new Set<string>()
      const seen: Array<PurchaseFact> = []
      for (const fact of arrival) {
        seen.push(fact)
        if (Array.isNonEmptyArray(seen)) slots(seen).forEach((slot) => recorded.add(slot))
      }
      slots(facts).forEach((slot) => assert.isTrue(recorded.has(slot), slot))
    }
  )

  it.prop("evolve is total and keeps the chain's identity", [history], ([facts]) => {
    let known = Option.none<Subscription>()
    for (const fact of facts) {
      const next = evolve(known, fact)
      assert.strictEqual(next.originalTransactionId, "1000")
      known = Option.some(next)
    }
  })

  it("tells a trial, its conversion, a renewal, a cancellation and the end", () => {
    const trial = { trial: true }
    const facts: Facts = [
      factOf(0, { ...step, kind: "purchased" }, trial),
      factOf(1, { ...step, kind: "renewed", period: 1 }, trial),
      factOf(2, { ...step, kind: "renewed", period: 2 }, trial),
      factOf(3, { ...step, kind: "renewal_disabled", period: 2, willRenew: false }, trial),
      factOf(4, { ...step, kind: "expired", period: 2, status: "expired", willRenew: false }, trial)
    ]
    deepStrictEqual(types(facts), [
      "subscription.trial_started",
      "subscription.trial_converted",
      "subscription.renewed",
      "subscription.canceled",
      "subscription.expired"
    ])
    assert.strictEqual(replay(facts).subscription.status, "expired")
  })

  it("tells a failed payment with grace and its recovery", () => {
    const paid = { trial: false }
    const facts: Facts = [
      factOf(0, { ...step, kind: "purchased" }, paid),
      factOf(1, { ...step, kind: "renewal_failed", status: "in_grace_period" }, paid),
      factOf(2, { ...step, kind: "recovered", period: 1 }, paid)
    ]
    deepStrictEqual(types(facts), [
      "subscription.started",
      "subscription.grace_period_started",
      "subscription.billing_issue",
      "subscription.renewed",
      "subscription.recovered"
    ])
    assert.isTrue(Option.isNone(replay(facts).subscription.billingIssuesDetectedAt))
  })

  it("revokes on a refund of the running period and leaves it alone on a refund of an earlier one", () => {
    const paid = { trial: false }
    const current: Facts = [
      factOf(0, { ...step, kind: "purchased" }, paid),
      factOf(1, { ...step, kind: "refunded", status: "revoked" }, paid)
    ]
    assert.strictEqual(replay(current).subscription.status, "revoked")
    deepStrictEqual(types(current), ["subscription.started", "subscription.refunded"])
    const earlier: Facts = [
      factOf(0, { ...step, kind: "purchased" }, paid),
      factOf(1, { ...step, kind: "renewed", period: 1 }, paid),
      factOf(2, { ...step, kind: "refunded" }, paid)
    ]
    assert.strictEqual(replay(earlier).subscription.status, "active")
    deepStrictEqual(types(earlier), ["subscription.started", "subscription.renewed", "subscription.refunded"])
  })
})
