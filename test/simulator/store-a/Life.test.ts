import { describe, it } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Either, FastCheck, Option, Schema } from "effect"
import { decide, type Deed } from "../../../src/simulator/store-a/Deed.ts"
import { dueOf, elapse } from "../../../src/simulator/store-a/Life.ts"
import { renewalPayload, transactionPayload } from "../../../src/simulator/store-a/Payloads.ts"
import { bought, chainId } from "../../../src/simulator/store-a/Period.ts"
import { current, type Outcome, type Purchase } from "../../../src/simulator/store-a/Purchase.ts"
import { NewPurchase } from "../../../src/simulator/store-a/Terms.ts"
import { RenewalPayload, TransactionPayload } from "../../../src/store/store-a/Payloads.ts"

const scale = 10
const month = 10_000
const start = Date.UTC(2026, 0, 1)

const sold = (more: object = {}) =>
  bought(
    Schema.decodeUnknownSync(NewPurchase)({ bundle_id: "com.example.notes", product_id: "pro", ...more }),
    chainId(1),
    { now: start, scale }
  )

const offer = {
  kind: "promotional",
  discount: "PAY_AS_YOU_GO",
  identifier: "half",
  period: undefined,
  periods: 3,
  price: 4990
} as const
const plus = { productId: "plus", price: 19_990, length: "P1Y" }

const deed: FastCheck.Arbitrary<Deed> = FastCheck.oneof(
  FastCheck.constantFrom(
    ...(["renew", "cancel", "uncancel", "cancelChange", "withdraw", "revoke", "declineRefund"] as const)
  ).map((_tag) => ({ _tag })),
  FastCheck.constantFrom(undefined, "P16D").map((grace) => ({ _tag: "failBilling" as const, grace })),
  FastCheck.boolean().map((works) => ({ _tag: "setPayment" as const, works })),
  FastCheck.constantFrom<Deed>(
    { _tag: "expire", reason: undefined },
    { _tag: "refund", transactionId: undefined, percent: 100, reason: 0 },
    { _tag: "refund", transactionId: chainId(1), percent: 40, reason: 1 },
    { _tag: "reverseRefund", transactionId: undefined },
    { _tag: "requestRefund" },
    { _tag: "change", product: plus, mode: "upgrade" },
    { _tag: "change", product: plus, mode: "downgrade" },
    { _tag: "change", product: plus, mode: "crossgrade" },
    { _tag: "redeem", offer },
    { _tag: "raisePrice", price: 12_990, needsConsent: true },
    { _tag: "raisePrice", price: 10_990, needsConsent: false },
    { _tag: "answerRise", agrees: true },
    { _tag: "answerRise", agrees: false },
    { _tag: "extend", length: "P7D" },
    { _tag: "resubscribe", product: undefined, offer: undefined },
    { _tag: "resubscribe", product: plus, offer }
  )
)

const terms = FastCheck.record({
  trial: FastCheck.boolean(),
  grace_period: FastCheck.constantFrom("P3D", "P16D"),
  payment_works: FastCheck.boolean(),
  type: FastCheck.constantFrom("Auto-Renewable Subscription", "Non-Renewing Subscription", "Consumable")
})

const story = FastCheck.array(FastCheck.tuple(FastCheck.integer({ min: 0, max: 40_000 }), deed), { maxLength: 12 })

type Story = ReadonlyArray<readonly [number, Deed]>

/** A purchase after a story of deeds with time between them; deeds that are impossible change nothing. */
const lived = (first: Outcome, deeds: Story) =>
  deeds.reduce(
    ({ notices, now, purchase }, [pause, what]) => {
      const moment = { now: now + pause, scale }
      const aged = elapse(purchase, moment)
      const done = Either.getOrElse(decide(aged.purchase, what, moment), () => ({ ...aged, notices: [] }))
      return { now: moment.now, purchase: done.purchase, notices: [...notices, ...aged.notices, ...done.notices] }
    },
    { now: start, ...first }
  )

const words = ({ notices }: Pick<Outcome, "notices">) =>
  notices.map(({ subtype, type }) => (subtype === undefined ? type : `${type}/${subtype}`))

const after = (purchase: Purchase, months: number) => elapse(purchase, { now: start + months * month, scale })

const done = (purchase: Purchase, what: Deed, now = start) => Either.getOrThrow(decide(purchase, what, { now, scale }))

describe("the life of a purchase in store A", () => {
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
    }
  )

  it.prop("is up to date after it elapsed, and what ended rests", [terms, story], ([said, deeds]) => {
    const { now, purchase } = lived(sold(said), deeds)
    if (purchase.status === 2 || purchase.status === 5) strictEqual(dueOf(purchase), undefined)
    const { purchase: later } = elapse(purchase, { now: now + month, scale })
    assertTrue((dueOf(later) ?? Infinity) > now + month)
  })

  it.prop("has transactions of their own ids, one after the other", [terms, story], ([said, deeds]) => {
    const { notices, purchase } = lived(sold(said), deeds)
    const ids = purchase.transactions.map(({ transactionId }) => transactionId)
    strictEqual(new Set(ids).size, ids.length)
    const starts = purchase.transactions.map(({ purchaseDate }) => purchaseDate)
    deepStrictEqual(
      starts,
      starts.toSorted((one, other) => one - other)
    )
    assertTrue(notices.every(({ transactionId }) => ids.includes(transactionId)))
    const moments = notices.map(({ at }) => at)
    deepStrictEqual(
      moments,
      moments.toSorted((one, other) => one - other)
    )
  })

  it.prop("always signs what the program can read", [terms, story], ([said, deeds]) => {
    for (const { purchase } of lived(sold(said), deeds).notices) {
      for (const transaction of purchase.transactions) {
        const text = JSON.stringify(transactionPayload(purchase, start, transaction))
        assertTrue(Option.isSome(Schema.decodeOption(TransactionPayload)(text)), text)
      }
      const text = JSON.stringify(renewalPayload(purchase, start))
      assertTrue(Option.isSome(Schema.decodeOption(RenewalPayload)(text)), text)
    }
  })

  it("renews by itself, converts a trial, and keeps an offer for its periods", () => {
    const trial = after(sold({ trial: true, trial_period: "P1W" }).purchase, 2)
    deepStrictEqual(words(trial), ["DID_RENEW", "DID_RENEW"])
    deepStrictEqual(
      trial.purchase.transactions.map(({ price }) => price),
      [0, 9990, 9990]
    )
    const { purchase } = after(
      sold({ offer: { kind: "introductory", ...{ discount: "PAY_AS_YOU_GO", periods: 2, price: 1990 } } }).purchase,
      3
    )
    deepStrictEqual(
      purchase.transactions.map(({ price }) => price),
      [1990, 1990, 9990, 9990]
    )
  })

  it("loses a payment through grace and retries, and may win it back", () => {
    const broke = sold({ grace_period: "P6D", payment_works: false }).purchase
    deepStrictEqual(words(after(broke, 4)), [
      "DID_FAIL_TO_RENEW/GRACE_PERIOD",
      "GRACE_PERIOD_EXPIRED",
      "EXPIRED/BILLING_RETRY"
    ])
    const retrying = after(broke, 2).purchase
    const paid = done(retrying, { _tag: "setPayment", works: true }, start + 2 * month)
    deepStrictEqual(words(paid), ["DID_RENEW/BILLING_RECOVERY"])
    strictEqual(current(paid.purchase).purchaseDate, start + 2 * month)
  })

  it("asks for consent to a higher price, and ends without it", () => {
    const asked = done(sold().purchase, { _tag: "raisePrice", price: 12_990, needsConsent: true })
    deepStrictEqual(words(after(asked.purchase, 1)), ["EXPIRED/PRICE_INCREASE"])
    const agreed = done(asked.purchase, { _tag: "answerRise", agrees: true })
    strictEqual(current(after(agreed.purchase, 1).purchase).price, 12_990)
  })

  it("goes up at once and down at the end of the period", () => {
    const up = done(sold().purchase, { _tag: "change", product: plus, mode: "upgrade" })
    deepStrictEqual(
      up.purchase.transactions.map(({ isUpgraded, productId }) => [productId, isUpgraded]),
      [
        ["pro", true],
        ["plus", false]
      ]
    )
    const down = done(sold().purchase, { _tag: "change", product: plus, mode: "crossgrade" })
    strictEqual(current(down.purchase).productId, "pro")
    strictEqual(current(after(down.purchase, 1).purchase).productId, "plus")
    const undone = done(down.purchase, { _tag: "cancelChange" })
    strictEqual(current(after(undone.purchase, 1).purchase).productId, "pro")
  })

  it("gives back what was refunded, and only that", () => {
    const { purchase } = done(sold().purchase, { _tag: "refund", transactionId: undefined, percent: 100, reason: 0 })
    strictEqual(purchase.status, 5)
    const back = done(purchase, { _tag: "reverseRefund", transactionId: undefined })
    strictEqual(back.purchase.status, 1)
    assertTrue(
      Either.isLeft(decide(back.purchase, { _tag: "reverseRefund", transactionId: undefined }, { now: start, scale }))
    )
    assertTrue(Either.isLeft(decide(purchase, { _tag: "renew" }, { now: start, scale })))
  })
})
