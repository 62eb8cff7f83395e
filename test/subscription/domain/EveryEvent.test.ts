import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Array, DateTime, Option } from "effect"
import { PurchaseFact, StoreTransaction } from "../../../src/store/domain/PurchaseFact.ts"
import { type DomainEventType, DomainEventType as Types } from "../../../src/subscription/domain/DomainEvent.ts"
import { replay } from "../../../src/subscription/domain/Lifecycle.ts"
import { oneTimeChanges } from "../../../src/subscription/domain/OneTime.ts"
import type { SubscriptionStatus } from "../../../src/subscription/domain/Subscription.ts"
import { factOf } from "../../support/PurchaseFacts.ts"

const step = { period: 0, status: "active", willRenew: true } as const
const paid = { trial: false }
const bought = factOf(0, { ...step, kind: "purchased" }, paid)
const moment = DateTime.unsafeMake("2026-02-03T00:00:00Z")

const changed = (fact: PurchaseFact, change: Partial<StoreTransaction>) =>
  PurchaseFact.make({ ...fact, transaction: StoreTransaction.make({ ...fact.transaction, ...change }) })

interface Story {
  readonly facts: ReadonlyArray<PurchaseFact>
  readonly told: ReadonlyArray<string>
  readonly status: SubscriptionStatus
}

const failed = factOf(2, { ...step, kind: "renewal_failed", status: "in_billing_retry" }, paid)
const graced = factOf(2, { ...step, kind: "renewal_failed", status: "in_grace_period" }, paid)
const held = factOf(3, { ...step, kind: "renewal_failed", status: "on_hold" }, paid)
const renewed = factOf(10, { ...step, kind: "renewed", period: 1 }, paid)
const disabled = factOf(2, { ...step, kind: "renewal_disabled", willRenew: false }, paid)
const expired = factOf(10, { ...step, kind: "expired", status: "expired", willRenew: false }, paid)
const planned = factOf(2, { ...step, kind: "pause_schedule_changed", status: "paused_pending" }, paid)
const paused = factOf(10, { ...step, kind: "observed", status: "paused" }, paid)
const refunded = factOf(3, { ...step, kind: "refunded", status: "revoked" }, paid)
const upgrade = changed(factOf(3, { ...step, kind: "product_changed", period: 1, reason: "purchase" }, paid), {
  productIdentifier: "max.monthly",
  purchaseDate: moment.pipe(DateTime.subtract({ days: 25 }))
})

/** By event type, a history that ends with it; each type is told once in its own. */
const stories: { readonly [type: string]: Story } = {
  started: { facts: [bought], told: ["started"], status: "active" },
  trial_started: {
    facts: [factOf(0, { ...step, kind: "purchased" }, { trial: true })],
    told: ["trial_started"],
    status: "trialing"
  },
  trial_converted: {
    facts: [factOf(0, { ...step, kind: "purchased" }, { trial: true }), renewed],
    told: ["trial_started", "trial_converted"],
    status: "active"
  },
  renewed: { facts: [bought, renewed], told: ["started", "renewed"], status: "active" },
  canceled: { facts: [bought, disabled], told: ["started", "canceled"], status: "canceled" },
  uncanceled: {
    facts: [bought, disabled, factOf(4, { ...step, kind: "renewal_enabled" }, paid)],
    told: ["started", "canceled", "uncanceled"],
    status: "active"
  },
  product_changed: { facts: [bought, upgrade], told: ["started", "product_changed"], status: "active" },
  grace_period_started: {
    facts: [bought, graced],
    told: ["started", "grace_period_started", "billing_issue"],
    status: "in_grace_period"
  },
  billing_issue: { facts: [bought, failed], told: ["started", "billing_issue"], status: "in_billing_retry" },
  recovered: {
    facts: [bought, failed, factOf(12, { ...step, kind: "recovered", period: 1 }, paid)],
    told: ["started", "billing_issue", "renewed", "recovered"],
    status: "active"
  },
  on_hold: {
    facts: [bought, graced, held],
    told: ["started", "grace_period_started", "billing_issue", "on_hold"],
    status: "on_hold"
  },
  pause_scheduled: { facts: [bought, planned], told: ["started", "pause_scheduled"], status: "paused_pending" },
  paused: { facts: [bought, planned, paused], told: ["started", "pause_scheduled", "paused"], status: "paused" },
  resumed: {
    facts: [bought, planned, paused, factOf(14, { ...step, kind: "recovered", period: 1 }, paid)],
    told: ["started", "pause_scheduled", "paused", "renewed", "resumed"],
    status: "active"
  },
  extended: {
    facts: [bought, changed(factOf(3, { ...step, kind: "extended" }, paid), { expiresDate: Option.some(moment) })],
    told: ["started", "extended"],
    status: "active"
  },
  expired: { facts: [bought, disabled, expired], told: ["started", "canceled", "expired"], status: "expired" },
  refunded: { facts: [bought, refunded], told: ["started", "refunded"], status: "revoked" },
  refund_reversed: {
    facts: [bought, refunded, factOf(5, { ...step, kind: "refund_reversed" }, paid)],
    told: ["started", "refunded", "refund_reversed"],
    status: "active"
  },
  revoked: {
    facts: [bought, factOf(3, { ...step, kind: "revoked", status: "revoked" }, paid)],
    told: ["started", "revoked"],
    status: "revoked"
  },
  price_change: {
    facts: [bought, factOf(3, { ...step, kind: "price_change" }, paid)],
    told: ["started", "price_change"],
    status: "active"
  }
}

const others: { readonly [name: string]: Story } = {
  "a downgrade shows as pending and is told when it comes": {
    facts: [
      bought,
      factOf(3, { ...step, kind: "product_change_scheduled" }, paid),
      changed(factOf(10, { ...step, kind: "renewed", period: 1 }, paid), { productIdentifier: "basic.monthly" })
    ],
    told: ["started", "product_changed"],
    status: "active"
  },
  "who comes back after a gap starts again, in trial or out of it": {
    facts: [
      factOf(0, { ...step, kind: "purchased" }, { trial: true }),
      factOf(10, { ...step, kind: "expired", status: "expired", willRenew: false }, { trial: true }),
      factOf(20, { ...step, kind: "purchased", period: 2, reason: "purchase" }, paid)
    ],
    told: ["trial_started", "expired", "started"],
    status: "active"
  },
  "a plan to pause is withdrawn by a second change of it": {
    facts: [
      bought,
      planned,
      factOf(3, { ...step, kind: "pause_schedule_changed", status: "paused_pending" }, paid),
      factOf(4, { ...step, kind: "pause_schedule_changed", status: "paused_pending" }, paid)
    ],
    told: ["started", "pause_scheduled", "pause_scheduled"],
    status: "paused_pending"
  },
  "a refund of an earlier period leaves the running one, and says which was taken back": {
    facts: [bought, renewed, factOf(12, { ...step, kind: "refunded" }, paid)],
    told: ["started", "renewed", "refunded"],
    status: "active"
  },
  "what was revoked stays so when the store says later that it expired": {
    facts: [bought, factOf(3, { ...step, kind: "revoked", status: "revoked" }, paid), expired],
    told: ["started", "revoked", "expired"],
    status: "revoked"
  },
  "a chain that is known from its fifth period only": {
    facts: [factOf(20, { ...step, kind: "renewal_disabled", period: 4, willRenew: false }, paid)],
    told: ["renewed", "canceled"],
    status: "canceled"
  },
  "retry after grace is one payment issue": {
    facts: [bought, graced, factOf(8, { ...step, kind: "grace_period_expired", status: "in_billing_retry" }, paid)],
    told: ["started", "grace_period_started", "billing_issue"],
    status: "in_billing_retry"
  },
  "a word that nobody knows is kept and tells nothing": {
    facts: [bought, factOf(8, { ...step, kind: "observed", status: "unknown" }, paid)],
    told: ["started"],
    status: "unknown"
  }
}

describe("every event of a subscription", () => {
  for (const [name, { facts, status, told }] of Object.entries({ ...stories, ...others })) {
    it(`${name}: once, whatever is repeated`, () => {
      if (!Array.isNonEmptyReadonlyArray(facts)) return strictEqual(facts.length, 1)
      for (const story of [facts, Array.appendAll(facts, facts)]) {
        const { changes, subscription } = replay(story)
        deepStrictEqual(
          changes.map(({ type }) => type),
          told.map((type) => `subscription.${type}`)
        )
        strictEqual(subscription.status, status)
      }
    })
  }

  it("has a story", () => {
    const subscriptions = Types.literals.filter((type) => type.startsWith("subscription."))
    deepStrictEqual(
      subscriptions.filter((type) => stories[type.slice("subscription.".length)] === undefined),
      []
    )
    for (const [type, { told }] of Object.entries(stories)) strictEqual(told.filter((one) => one === type).length, 1)
  })

  it("gives no promise to renew or to change once it has ended", () => {
    const { subscription } = replay([bought, refunded])
    strictEqual(subscription.willRenew, false)
    deepStrictEqual(subscription.pendingProductIdentifier, Option.none())
  })
})

describe("every event of what is bought once", () => {
  const typesOf = (fact: PurchaseFact): ReadonlyArray<DomainEventType> => oneTimeChanges(fact).map(({ type }) => type)
  const coins = changed(bought, { productType: "consumable", expiresDate: Option.none() })

  it("is told once, in the same slot by every statement", () => {
    deepStrictEqual(typesOf(coins), ["purchase.completed"])
    const taken = changed(coins, { refundedAt: Option.some(moment) })
    deepStrictEqual(typesOf(taken), ["purchase.completed", "purchase.refunded"])
    const again = PurchaseFact.make({ ...taken, factId: "again", kind: "observed" })
    deepStrictEqual(oneTimeChanges(again), oneTimeChanges(taken))
    strictEqual(oneTimeChanges(taken)[0].slot, oneTimeChanges(coins)[0].slot)
  })

  it("counts a second refund of store A, and one of store B whatever its date", () => {
    const takenAt = (store: "store_a" | "store_b", at: DateTime.Utc) =>
      oneTimeChanges(PurchaseFact.make({ ...changed(coins, { refundedAt: Option.some(at) }), store })).map(
        ({ slot }) => slot
      )
    const later = DateTime.add(moment, { days: 1 })
    strictEqual(new Set([...takenAt("store_a", moment), ...takenAt("store_a", later)]).size, 3)
    strictEqual(new Set([...takenAt("store_b", moment), ...takenAt("store_b", later)]).size, 2)
  })
})
