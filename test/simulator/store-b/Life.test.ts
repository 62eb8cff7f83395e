import { describe, it } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Either, FastCheck, Schema } from "effect"
import { decide, type Deed, type Plain } from "../../../src/simulator/store-b/Deed.ts"
import { bought, dueOf, elapse } from "../../../src/simulator/store-b/Life.ts"
import { type Outcome, type Purchase, types } from "../../../src/simulator/store-b/Purchase.ts"
import { productResource, subscriptionResource } from "../../../src/simulator/store-b/Resources.ts"
import { NewPurchase } from "../../../src/simulator/store-b/Terms.ts"
import { ProductResource, SubscriptionResource } from "../../../src/store/store-b/Resources.ts"

const scale = 10
const month = 10_000
const start = Date.UTC(2026, 0, 1)
const names = { token: "t", order: "GPA.1", linkedPurchaseToken: undefined, expiredPurchaseToken: undefined }

const sold = (more: object = {}) =>
  bought(
    Schema.decodeUnknownSync(NewPurchase)({ package_name: "com.example.notes", product_id: "pro", ...more }),
    names,
    { now: start, scale }
  )

const plain: ReadonlyArray<Plain> = [
  "complete",
  "cancelPending",
  "renew",
  "recover",
  "restart",
  "hold",
  "resume",
  "revoke",
  "expire",
  "confirmPrice",
  "acknowledge",
  "consume"
]

const deed: FastCheck.Arbitrary<Deed> = FastCheck.oneof(
  FastCheck.constantFrom(...plain).map((_tag) => ({ _tag })),
  FastCheck.constantFrom<Deed>(
    { _tag: "cancel", by: "user" },
    { _tag: "setPayment", works: false },
    { _tag: "setPayment", works: true },
    { _tag: "grace", length: "P7D" },
    { _tag: "pause", length: "P1M" },
    { _tag: "defer", length: "P7D" },
    { _tag: "planPause", length: "P1M" },
    { _tag: "planPause", length: undefined },
    { _tag: "changePrice", price: 12.99, mode: "PRICE_INCREASE" },
    { _tag: "changePrice", price: 5.99, mode: "PRICE_DECREASE" },
    { _tag: "refund", quantity: undefined, reason: 1, source: 0 },
    { _tag: "refund", quantity: 1, reason: 1, source: 0 }
  )
)

const terms = FastCheck.record({
  trial: FastCheck.boolean(),
  pending: FastCheck.boolean(),
  one_time: FastCheck.boolean(),
  prepaid: FastCheck.boolean(),
  quantity: FastCheck.constantFrom(1, 3),
  payment_works: FastCheck.boolean(),
  grace_period: FastCheck.constantFrom("P3D", "P7D")
})

const story = FastCheck.array(FastCheck.tuple(FastCheck.integer({ min: 0, max: 20_000 }), deed), { maxLength: 12 })

const lived = (first: Outcome, deeds: ReadonlyArray<readonly [number, Deed]>) =>
  deeds.reduce(
    (life, [pause, what]) => {
      const moment = { now: life.now + pause, scale }
      const aged = elapse(life.purchase, moment)
      const done = Either.getOrElse(decide(aged.purchase, what, moment), () => ({ ...aged, notices: [], voided: [] }))
      return {
        now: moment.now,
        purchase: done.purchase,
        notices: [...life.notices, ...aged.notices, ...done.notices],
        voided: [...life.voided, ...aged.voided, ...done.voided]
      }
    },
    { now: start, ...first }
  )

const name = new Map<number, string>(Object.entries(types).map(([word, code]) => [code, word]))

const words = ({ notices }: Pick<Outcome, "notices">) =>
  notices.map(({ word }) => (word._tag === "voided" ? "VOIDED" : (name.get(word.type) ?? String(word.type))))

const acknowledged = (more: object = {}): Purchase =>
  Either.getOrThrow(decide(sold(more).purchase, { _tag: "acknowledge" }, { now: start, scale })).purchase

const after = (purchase: Purchase, months: number) => elapse(purchase, { now: start + months * month, scale })
const done = (purchase: Purchase, what: Deed, now = start) => Either.getOrThrow(decide(purchase, what, { now, scale }))

describe("the life of a purchase in store B", () => {
  it.prop(
    "is the same in one step and in two",
    [terms, story, FastCheck.nat(200_000), FastCheck.nat(200_000)],
    (given) => {
      const [said, deeds, first, second] = given
      const { now, purchase } = lived(sold(said), deeds)
      const whole = elapse(purchase, { now: now + first + second, scale })
      const half = elapse(purchase, { now: now + first, scale })
      const rest = elapse(half.purchase, { now: now + first + second, scale })
      deepStrictEqual(rest.purchase, whole.purchase)
      deepStrictEqual([...half.notices, ...rest.notices], whole.notices)
      deepStrictEqual([...half.voided, ...rest.voided], whole.voided)
    }
  )

  it.prop("tells of every order that it voids, in the order of time", [terms, story], ([said, deeds]) => {
    const { notices, voided } = lived(sold(said), deeds)
    strictEqual(notices.filter(({ word }) => word._tag === "voided").length, voided.length)
    const moments = notices.map(({ at }) => at)
    deepStrictEqual(
      moments,
      moments.toSorted((one, other) => one - other)
    )
  })

  it.prop("is up to date after it elapsed, and what is over rests", [terms, story], ([said, deeds]) => {
    const { now, purchase } = lived(sold(said), deeds)
    if (purchase.state === "EXPIRED" || purchase.state === "CANCELLED") strictEqual(dueOf(purchase), undefined)
    const { purchase: later } = elapse(purchase, { now: now + month, scale })
    assertTrue((dueOf(later) ?? Infinity) > now + month)
  })

  it.prop("always answers what the program can read", [terms, story], ([said, deeds]) => {
    for (const { purchase } of lived(sold(said), deeds).notices) {
      const isRead = purchase.terms.one_time
        ? Schema.decodeUnknownEither(ProductResource)(JSON.parse(JSON.stringify(productResource(purchase))))
        : Schema.decodeUnknownEither(SubscriptionResource)(JSON.parse(JSON.stringify(subscriptionResource(purchase))))
      strictEqual(isRead._tag, "Right")
    }
  })

  it("renews by itself once it is acknowledged, else it is refunded after three days", () => {
    deepStrictEqual(words(after(acknowledged(), 2)), ["RENEWED", "RENEWED"])
    const forgotten = after(sold().purchase, 1)
    deepStrictEqual(words(forgotten), ["REVOKED", "VOIDED"])
    deepStrictEqual(
      forgotten.voided.map(({ reason, source }) => [reason, source]),
      [[8, 2]]
    )
    strictEqual(forgotten.notices[0]?.at, start + month / 10)
  })

  it("loses a payment through grace and hold, and may win it back", () => {
    const broke = acknowledged({ payment_works: false, grace_period: "P6D", hold_period: "P1M" })
    deepStrictEqual(words(after(broke, 3)), ["IN_GRACE_PERIOD", "ON_HOLD", "CANCELED", "EXPIRED"])
    const held = after(broke, 1.5)
    strictEqual(held.purchase.state, "ON_HOLD")
    const paid = done(held.purchase, { _tag: "setPayment", works: true }, start + 1.5 * month)
    deepStrictEqual(words(paid), ["RECOVERED"])
    strictEqual(paid.purchase.expiryTime, start + 2.5 * month)
  })

  it("pauses at the end of the period and resumes by itself", () => {
    const planned = done(acknowledged(), { _tag: "planPause", length: "P1M" })
    deepStrictEqual(words(planned), ["PAUSE_SCHEDULE_CHANGED"])
    strictEqual(after(planned.purchase, 1.5).purchase.state, "PAUSED")
    deepStrictEqual(words(after(planned.purchase, 2)), ["PAUSED", "RECOVERED"])
  })

  it("ends when nobody agrees to a higher price", () => {
    const asked = done(acknowledged(), { _tag: "changePrice", price: 12.99, mode: "PRICE_INCREASE" })
    deepStrictEqual(words(after(asked.purchase, 1)), ["CANCELED", "EXPIRED"])
    const agreed = done(asked.purchase, { _tag: "confirmPrice" })
    strictEqual(after(agreed.purchase, 1).purchase.plan.price, 12.99)
  })

  it("is nothing before it is paid, and a part of a quantity may go back", () => {
    const pending = sold({ pending: true, one_time: true, quantity: 3 })
    strictEqual(dueOf(pending.purchase), undefined)
    const paid = done(pending.purchase, { _tag: "complete" })
    const part = done(paid.purchase, { _tag: "refund", quantity: 1, reason: 1, source: 0 })
    deepStrictEqual(
      part.notices.map(({ word }) => word._tag === "voided" && word.refundType),
      [2]
    )
    strictEqual(part.purchase.state, "ACTIVE")
    const rest = done(part.purchase, { _tag: "refund", quantity: 2, reason: 1, source: 0 })
    strictEqual(rest.purchase.state, "CANCELLED")
  })
})
