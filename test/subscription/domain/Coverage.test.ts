import { describe, it } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { DateTime, FastCheck, Option, Schema } from "effect"
import { PurchaseFact, StoreTransaction } from "../../../src/store/domain/PurchaseFact.ts"
import { isActiveAt } from "../../../src/subscription/domain/Access.ts"
import { coverage } from "../../../src/subscription/domain/Coverage.ts"
import { replay } from "../../../src/subscription/domain/Lifecycle.ts"
import { Subscription } from "../../../src/subscription/domain/Subscription.ts"
import { factOf, history } from "../../support/PurchaseFacts.ts"

const encode = Schema.encodeSync(Subscription)
const day = (days: number) => DateTime.unsafeMake(Date.UTC(2026, 0, 1) + days * 86_400_000)
const days = (facts: ReadonlyArray<PurchaseFact>) =>
  [...coverage(facts)].map(([id, until]) => [id, DateTime.distance(day(0), until) / 86_400_000])

const latestOf = (moments: ReadonlyArray<DateTime.Utc>) => moments.reduce(DateTime.max, day(0))

const changed = (fact: PurchaseFact, change: Partial<typeof StoreTransaction.Type>) =>
  PurchaseFact.make({ ...fact, transaction: StoreTransaction.make({ ...fact.transaction, ...change }) })

const step = { period: 0, status: "active", willRenew: true } as const
const paid = { trial: false }

describe("coverage", () => {
  it.prop(
    "agrees with the folded state at any moment after the newest statement",
    [history, FastCheck.double({ min: 0, max: 60, noNaN: true })],
    ([facts, later]) => {
      const known = latestOf(facts.flatMap(({ signedAt, transaction }) => [signedAt, transaction.purchaseDate]))
      const moment = DateTime.add(known, { millis: Math.round(later * 86_400_000) })
      const covered = coverage(facts)
      const isCovered = facts.some(
        ({ transaction }) =>
          DateTime.lessThanOrEqualTo(transaction.purchaseDate, moment) &&
          DateTime.lessThan(moment, covered.get(transaction.transactionId) ?? day(0))
      )
      strictEqual(isCovered, isActiveAt(encode(replay(facts).subscription), DateTime.formatIso(moment)))
    }
  )

  it.prop("does not overlap within a chain, and does not know the order of arrival", [history], ([facts]) => {
    const covered = coverage(facts)
    deepStrictEqual(coverage([...facts].reverse()), covered)
    const starts = new Map(facts.map(({ transaction }) => [transaction.transactionId, transaction.purchaseDate]))
    const spans = [...covered].map(([id, until]) => ({ from: starts.get(id) ?? day(0), until }))
    for (const [index, { from, until }] of spans.entries()) {
      assertTrue(DateTime.lessThanOrEqualTo(from, until))
      const next = spans[index + 1]
      if (next !== undefined) assertTrue(DateTime.lessThanOrEqualTo(until, next.from))
    }
  })

  it("lasts through grace, to the refund, to the store's word, to the next period", () => {
    const bought = factOf(0, { ...step, kind: "purchased" }, paid)
    deepStrictEqual(days([bought]), [["1000", 30]])
    const failed = factOf(9, { ...step, kind: "renewal_failed", status: "in_grace_period" }, paid)
    deepStrictEqual(days([bought, failed]), [["1000", 43]])
    const recovered = factOf(11, { ...step, kind: "recovered", period: 1 }, paid)
    deepStrictEqual(days([bought, failed, recovered]), [
      ["1000", 30],
      ["1001", 60]
    ])
    const refunded = factOf(4, { ...step, kind: "refunded", status: "revoked" }, paid)
    deepStrictEqual(days([bought, refunded]), [["1000", 12]])
    const reversed = factOf(5, { ...step, kind: "refund_reversed" }, paid)
    deepStrictEqual(days([bought, refunded, reversed]), [["1000", 30]])
    const held = factOf(6, { ...step, kind: "observed", status: "on_hold" }, paid)
    deepStrictEqual(days([bought, held]), [["1000", 18]])
  })

  it("believes the newest statement about its expiry, and the refund's own date", () => {
    const bought = factOf(0, { ...step, kind: "purchased" }, paid)
    const extended = changed(factOf(2, { ...step, kind: "extended" }, paid), { expiresDate: Option.some(day(44)) })
    deepStrictEqual(days([extended, bought]), [["1000", 44]])
    const refunded = factOf(4, { ...step, kind: "refunded", status: "revoked" }, paid)
    deepStrictEqual(days([bought, changed(refunded, { refundedAt: Option.some(day(5)) })]), [["1000", 5]])
  })

  it("is of renewing subscriptions alone", () => {
    const bought = factOf(0, { ...step, kind: "purchased" }, paid)
    deepStrictEqual(days([changed(bought, { productType: "non_renewing_subscription" })]), [])
    deepStrictEqual(days([changed(bought, { productType: "consumable", expiresDate: Option.none() })]), [])
  })
})
