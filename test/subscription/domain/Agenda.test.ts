import { assert, describe, it } from "@effect/vitest"
import { assertNone, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Array, DateTime, Duration, FastCheck, Option } from "effect"
import type { PurchaseFact } from "../../../src/store/domain/PurchaseFact.ts"
import { endOf, lapse, lookAt, pauseAfter } from "../../../src/subscription/domain/Agenda.ts"
import { replay } from "../../../src/subscription/domain/Lifecycle.ts"
import { history } from "../../support/PurchaseFacts.ts"

const last = (facts: readonly [PurchaseFact, ...Array<PurchaseFact>]): PurchaseFact =>
  facts.reduce((newest, fact) => (DateTime.greaterThan(fact.signedAt, newest.signedAt) ? fact : newest))

const later = (moment: DateTime.Utc, days: number) => DateTime.add(moment, { days })

/** A long time after everything that a history may say. */
const afterAll = (facts: readonly [PurchaseFact, ...Array<PurchaseFact>]) =>
  facts.reduce(
    (moment, { signedAt, transaction }) =>
      DateTime.max(
        moment,
        Option.getOrElse(transaction.expiresDate, () => signedAt)
      ),
    later(last(facts).signedAt, 400)
  )

describe("the agenda of a subscription", () => {
  it.prop(
    "is never looked at before its end, and always again later",
    [history, FastCheck.nat(500)],
    ([facts, days]) => {
      const { subscription } = replay(facts)
      const now = later(facts[0].signedAt, days)
      const at = lookAt(subscription, now)
      strictEqual(Option.isSome(at), Option.isSome(endOf(subscription)))
      if (Option.isNone(at)) return
      assert.isTrue(DateTime.greaterThan(at.value, now))
      assert.isTrue(Option.exists(endOf(subscription), (end) => DateTime.greaterThan(at.value, end)))
    }
  )

  it.prop("the clock ends what nobody spoke of, once, and only after its end", [history], ([facts]) => {
    const { subscription } = replay(facts)
    const before = Option.map(endOf(subscription), (end) => DateTime.subtract(end, { millis: 1 }))
    if (Option.isSome(before)) assertNone(lapse(subscription, last(facts), before.value))
    const lapsed = lapse(subscription, last(facts), later(afterAll(facts), 100))
    if (Option.isNone(lapsed)) return
    const ended = replay([...facts, lapsed.value])
    strictEqual(ended.subscription.status, "expired")
    assertNone(lapse(ended.subscription, lapsed.value, later(afterAll(facts), 200)))
    const told = ended.changes.filter(({ type }) => type === "subscription.expired")
    const toldBefore = replay(facts).changes.filter(({ type }) => type === "subscription.expired")
    assert.isAtMost(told.length - toldBefore.length, 1)
  })

  it.prop(
    "what the clock said of a part of the statements is overruled by a later period, whenever that comes",
    [history, FastCheck.nat(100)],
    ([facts, share]) => {
      const part = facts.slice(0, 1 + Math.floor(((facts.length - 1) * share) / 100))
      if (!Array.isNonEmptyReadonlyArray(part)) return
      const known = replay(part)
      const lapsed = lapse(known.subscription, last(part), later(afterAll(facts), 100))
      if (Option.isNone(lapsed)) return
      const whole = replay(facts).subscription
      const { subscription } = replay([...facts, lapsed.value])
      const isMoved = Option.exists(endOf(whole), (end) => DateTime.greaterThan(end, lapsed.value.signedAt))
      if (isMoved) deepStrictEqual(subscription, whole)
      else assert.include(["expired", whole.status], subscription.status)
    }
  )

  it("waits longer after each failure, up to an hour, and as long as the store asks for", () => {
    const minutes = [1, 2, 3, 4, 5, 6, 100].map((attempts) => Duration.toSeconds(pauseAfter(attempts, Option.none())))
    deepStrictEqual(minutes, [30, 120, 600, 1800, 3600, 3600, 3600])
    strictEqual(Duration.toHours(pauseAfter(1, Option.some(Duration.hours(3)))), 3)
    strictEqual(Duration.toSeconds(pauseAfter(1, Option.some(Duration.seconds(1)))), 30)
  })
})
