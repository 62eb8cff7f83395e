import { assert, describe, it } from "@effect/vitest"
import { assertNone, assertSome, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { DateTime, FastCheck, Option, Schema } from "effect"
import { PurchaseFact } from "../../../src/store/domain/PurchaseFact.ts"
import {
  awaitsAcknowledgement,
  microsOf,
  type Occasion,
  productFacts,
  subscriptionFact
} from "../../../src/store/store-b/Facts.ts"
import { ProductResource, SubscriptionResource } from "../../../src/store/store-b/Resources.ts"
import { replay } from "../../../src/subscription/domain/Lifecycle.ts"

const started = "2026-01-01T00:00:00.123456789Z"
const ends = "2026-02-01T00:00:00Z"
const day = 86_400_000

const occasion = (changes: Partial<Occasion> = {}): Occasion => ({
  factId: "m-1",
  kind: "observed",
  readAt: DateTime.unsafeMake("2026-01-02T00:00:00Z"),
  purchaseToken: "token",
  origin: Option.none(),
  voidedAt: () => Option.none(),
  ...changes
})

const item = (more: object = {}) => ({
  productId: "pro",
  expiryTime: ends,
  latestSuccessfulOrderId: "GPA.1-2-3-4",
  autoRenewingPlan: { autoRenewEnabled: true, recurringPrice: { currencyCode: "EUR", units: "9", nanos: 990_000_000 } },
  offerDetails: { basePlanId: "monthly" },
  offerPhase: { basePrice: {} },
  ...more
})

const shown = (state: string, more: object = {}, line: object = {}) =>
  Schema.decodeUnknownSync(SubscriptionResource)({
    subscriptionState: `SUBSCRIPTION_STATE_${state}`,
    startTime: started,
    acknowledgementState: "ACKNOWLEDGEMENT_STATE_PENDING",
    lineItems: [item(line)],
    ...more
  })

const factIn = (state: string, more: object = {}, line: object = {}, told: Partial<Occasion> = {}): PurchaseFact =>
  Option.getOrThrow(subscriptionFact(shown(state, more, line), occasion(told)))

const seen = (fact: PurchaseFact) => replay([fact]).subscription

describe("facts of store B", () => {
  it.each([
    ["ACTIVE", {}, "active", true],
    ["ACTIVE", { offerPhase: { freeTrial: {} } }, "trialing", true],
    ["CANCELED", { autoRenewingPlan: { autoRenewEnabled: false } }, "canceled", false],
    ["CANCELED", { autoRenewingPlan: undefined }, "canceled", false],
    ["IN_GRACE_PERIOD", {}, "in_grace_period", true],
    ["ON_HOLD", {}, "on_hold", true],
    ["PAUSED", {}, "paused", true],
    ["EXPIRED", { autoRenewingPlan: {} }, "expired", false],
    ["UNSPECIFIED", {}, "unknown", true],
    ["INVENTED_NEXT_YEAR", {}, "unknown", true],
    ["ACTIVE", { autoRenewingPlan: undefined, prepaidPlan: {} }, "active", false]
  ])("%s %j is %s", (state, line, status, willRenew) => {
    const subscription = seen(factIn(state, {}, line))
    strictEqual(subscription.status, status)
    strictEqual(subscription.willRenew, willRenew)
    strictEqual(subscription.productIdentifier, "pro:monthly")
  })

  it("nothing exists while the first payment is awaited or never came", () => {
    for (const state of ["PENDING", "PENDING_PURCHASE_CANCELED"]) {
      assertNone(subscriptionFact(shown(state, { startTime: undefined }), occasion()))
      assertNone(subscriptionFact(shown(state, {}, { latestSuccessfulOrderId: undefined }), occasion()))
    }
    assertNone(subscriptionFact(shown("ACTIVE", { lineItems: [] }), occasion()))
  })

  it("says who bought, where, and until when", () => {
    const fact = factIn("IN_GRACE_PERIOD", {
      testPurchase: {},
      externalAccountIdentifiers: { obfuscatedExternalAccountId: "ann" }
    })
    strictEqual(fact.environment, "sandbox")
    strictEqual(factIn("ACTIVE").environment, "production")
    assertSome(fact.accountToken, "ann")
    assertNone(factIn("ACTIVE", { externalAccountIdentifiers: { obfuscatedExternalAccountId: "" } }).accountToken)
    assertSome(seen(fact).gracePeriodExpiresDate, DateTime.unsafeMake(ends))
    const resumes = { pausedStateContext: { autoResumeTime: "2026-03-01T00:00:00Z" } }
    assertSome(seen(factIn("PAUSED", resumes)).autoResumeDate, DateTime.unsafeMake("2026-03-01T00:00:00Z"))
  })

  it("tells the price only where the store does", () => {
    assertSome(factIn("ACTIVE").transaction.priceMicros, 9_990_000)
    assertSome(factIn("ACTIVE", {}, { offerPhase: { freeTrial: {} } }).transaction.priceMicros, 0)
    const intro = factIn("ACTIVE", {}, { offerPhase: { introductoryPrice: {} } }).transaction
    assertNone(intro.priceMicros)
    strictEqual(intro.periodType, "intro")
    assertNone(factIn("ACTIVE", {}, { offerPhase: { prorationPeriod: {} } }).transaction.priceMicros)
  })

  it("keeps a replacement at the end of the period as what is pending", () => {
    const fact = factIn(
      "ACTIVE",
      {},
      {
        autoRenewingPlan: { autoRenewEnabled: false },
        deferredItemReplacement: { productId: "basic" }
      }
    )
    const subscription = seen(fact)
    assertSome(subscription.pendingProductIdentifier, "basic")
    strictEqual(subscription.status, "active")
  })

  it("of a purchase with add-ons the one that lasts longest speaks", () => {
    const addOn = item({ productId: "addon", expiryTime: "2026-01-15T00:00:00Z", latestSuccessfulOrderId: "GPA.9" })
    const fact = factIn("ACTIVE", { lineItems: [addOn, item(), { ...item(), productId: "later-twin" }] })
    strictEqual(fact.transaction.productIdentifier, "pro:monthly")
    strictEqual(fact.transaction.transactionId, "GPA.1-2-3-4")
  })

  it("a voided order is refunded, and only that one; a revocation needs the store's word too", () => {
    const at = DateTime.unsafeMake("2026-01-03T00:00:00Z")
    const voidedAt = (order: string) => (order === "GPA.1-2-3-4" ? Option.some(at) : Option.none())
    const refunded = factIn("EXPIRED", {}, {}, { voidedAt })
    strictEqual(refunded.kind, "refunded")
    assertSome(seen(refunded).refundedAt, at)
    strictEqual(seen(refunded).status, "revoked")
    const renewed = factIn("ACTIVE", {}, { latestSuccessfulOrderId: "GPA.1-2-3-4..0" }, { voidedAt })
    strictEqual(seen(renewed).status, "active")
    strictEqual(seen(factIn("EXPIRED", {}, {}, { kind: "revoked" })).status, "revoked")
    strictEqual(seen(factIn("ACTIVE", {}, {}, { kind: "revoked" })).status, "active")
  })

  it("a planned pause is remembered until it is withdrawn or something else happens", () => {
    const at = (hours: number) => DateTime.unsafeMake(Date.UTC(2026, 0, 2, hours))
    const planned = factIn("ACTIVE", {}, {}, { factId: "1", kind: "pause_schedule_changed", readAt: at(1) })
    const looked = factIn("ACTIVE", {}, {}, { factId: "2", readAt: at(2) })
    const withdrawn = factIn("ACTIVE", {}, {}, { factId: "3", kind: "pause_schedule_changed", readAt: at(3) })
    const paused = factIn("PAUSED", {}, {}, { factId: "4", readAt: at(4) })
    const resumed = factIn("ACTIVE", {}, {}, { factId: "5", kind: "recovered", readAt: at(5) })
    const status = (...facts: readonly [PurchaseFact, ...Array<PurchaseFact>]) => replay(facts).subscription.status
    strictEqual(status(planned), "paused_pending")
    strictEqual(status(looked, planned), "paused_pending")
    strictEqual(status(withdrawn, looked, planned), "active")
    strictEqual(status(planned, paused), "paused")
    const story = replay([planned, looked, paused, resumed])
    strictEqual(story.subscription.status, "active")
    deepStrictEqual(
      story.changes.map(({ type }) => type),
      ["subscription.started", "subscription.pause_scheduled", "subscription.paused", "subscription.resumed"]
    )
  })

  it.prop(
    "periods of one purchase begin in order, the first when it was bought and none after its end",
    [FastCheck.array(FastCheck.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 20 })],
    ([lengths]) => {
      let end = Date.parse(started)
      let before = Number.NEGATIVE_INFINITY
      lengths.forEach((days, index) => {
        end += days * day
        const { purchaseDate } = factIn(
          "ACTIVE",
          {},
          {
            expiryTime: new Date(end).toISOString(),
            latestSuccessfulOrderId: index === 0 ? "GPA.1" : `GPA.1..${index - 1}`
          }
        ).transaction
        const start = DateTime.toEpochMillis(purchaseDate)
        if (index === 0) strictEqual(start, Date.parse(started))
        assert.isAbove(start, before)
        assert.isBelow(start, end)
        before = start
      })
    }
  )

  it.prop(
    "counts money exactly in millionths",
    [FastCheck.bigInt({ min: 0n, max: 9_000_000_000n }), FastCheck.integer({ min: 0, max: 999_999 })],
    ([units, millionths]) => {
      const money = { currencyCode: "USD", units: String(units), nanos: millionths * 1000 }
      assertSome(microsOf(money), Number(units) * 1_000_000 + millionths)
      const alike = microsOf({ ...money, nanos: millionths * 1000 + 499 })
      deepStrictEqual(alike, microsOf(money))
    }
  )

  it("knows no sum that a number cannot hold", () => {
    assertNone(microsOf({ currencyCode: "USD", units: "9999999999999" }))
    assertSome(microsOf({ currencyCode: "USD" }), 0)
  })

  it.prop(
    "whatever the store shows is understood",
    [
      FastCheck.record(
        {
          subscriptionState: FastCheck.string(),
          startTime: FastCheck.constantFrom(started, ends),
          linkedPurchaseToken: FastCheck.string(),
          acknowledgementState: FastCheck.string(),
          lineItems: FastCheck.array(
            FastCheck.record(
              {
                productId: FastCheck.string({ minLength: 1 }),
                expiryTime: FastCheck.constantFrom(started, ends),
                latestSuccessfulOrderId: FastCheck.string({ minLength: 1 }),
                offerPhase: FastCheck.constantFrom({}, { freeTrial: {} }, { inventedPhase: {} }),
                prepaidPlan: FastCheck.constant({}),
                itemReplacement: FastCheck.anything()
              },
              { requiredKeys: ["productId"] }
            )
          )
        },
        { requiredKeys: [] }
      )
    ],
    ([resource]) => {
      const fact = subscriptionFact(Schema.decodeUnknownSync(SubscriptionResource)(resource), occasion())
      if (Option.isNone(fact)) return
      const again = Schema.decodeUnknownSync(PurchaseFact)(Schema.encodeSync(PurchaseFact)(fact.value))
      deepStrictEqual(again, fact.value)
      assert.notInclude(JSON.stringify(Schema.encodeSync(PurchaseFact)(fact.value)), '"token"')
    }
  )

  it("one-time purchases: paid, pending, taken back", () => {
    const product = (state: string, more: object = {}) =>
      Schema.decodeUnknownSync(ProductResource)({
        productLineItem: [
          { productId: "coins", productOfferDetails: { consumptionState: "CONSUMPTION_STATE_CONSUMED" } }
        ],
        purchaseStateContext: { purchaseState: state },
        purchaseCompletionTime: started,
        orderId: "GPA.7",
        ...more
      })
    const [bought] = productFacts(product("PURCHASED", { testPurchaseContext: { fopType: "TEST" } }), occasion())
    strictEqual(bought?.environment, "sandbox")
    strictEqual(bought?.transaction.productType, "consumable")
    strictEqual(bought?.status, "active")
    deepStrictEqual(productFacts(product("PENDING"), occasion()), [])
    deepStrictEqual(productFacts(product("CANCELLED", { purchaseCompletionTime: undefined }), occasion()), [])
    const [taken] = productFacts(product("CANCELLED"), occasion())
    strictEqual(taken?.status, "revoked")
    assertSome(taken?.transaction.refundedAt ?? Option.none(), occasion().readAt)
    const two = productFacts(
      product("PURCHASED", { productLineItem: [{ productId: "a" }, { productId: "b" }] }),
      occasion()
    )
    strictEqual(new Set(two.map(({ transaction }) => transaction.transactionId)).size, 2)
  })

  it("acknowledges what is paid and was not acknowledged", () => {
    const waits = "ACKNOWLEDGEMENT_STATE_PENDING"
    assert.isTrue(awaitsAcknowledgement(waits, "SUBSCRIPTION_STATE_ACTIVE"))
    assert.isTrue(awaitsAcknowledgement(waits, "PURCHASED"))
    assert.isFalse(awaitsAcknowledgement(waits, "SUBSCRIPTION_STATE_PENDING"))
    assert.isFalse(awaitsAcknowledgement(waits, "PENDING"))
    assert.isFalse(awaitsAcknowledgement("ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED", "PURCHASED"))
  })
})
