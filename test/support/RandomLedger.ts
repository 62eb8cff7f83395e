import { FastCheck } from "effect"

export const hour = 3_600_000
export const day = 24 * hour
export const epoch = Date.UTC(2026, 0, 1)

type Environment = "production" | "sandbox"

/** A paid or free stretch of a purchase chain; times are epoch milliseconds, money is micros. */
export interface Period {
  readonly id: string
  readonly product: string
  readonly type: "normal" | "trial" | "intro"
  readonly start: number
  readonly expires: number
  readonly until: number
  readonly price: number | null
  readonly currency: string | null
  readonly isRefunded: boolean
  /** What went back of one that is not refunded. */
  readonly back: number | null
}

export interface Chain {
  readonly environment: Environment
  readonly isFamilyShared: boolean
  readonly status: "active" | "in_grace_period" | "in_billing_retry" | "on_hold"
  readonly graceUntil: number | null
  readonly periods: ReadonlyArray<Period>
}

export interface OneTime {
  readonly environment: Environment
  readonly product: string
  readonly at: number
  readonly price: number
  readonly currency: string
  readonly isRefunded: boolean
  readonly back: number | null
}

export interface Ledger {
  readonly customers: ReadonlyArray<number>
  readonly chains: ReadonlyArray<Chain>
  readonly oneTime: ReadonlyArray<OneTime>
}

/** The catalogue's periods; "gone" is bought and in no catalogue. */
export const products: { readonly [identifier: string]: string } = {
  daily: "P1D",
  weekly: "P1W",
  fortnightly: "P2W",
  monthly: "P1M",
  quarterly: "P3M",
  yearly: "P1Y"
}

/** Midnights are as likely as all other hours. */
const moment = FastCheck.tuple(FastCheck.nat(160), FastCheck.oneof(FastCheck.constant(0), FastCheck.nat(23))).map(
  ([days, hours]) => epoch + days * day + hours * hour
)

const price = FastCheck.oneof(FastCheck.constant(null), FastCheck.integer({ min: 0, max: 99_990_000 }))
const currency = FastCheck.constantFrom("USD", "EUR", "JPY", null)
const environment = FastCheck.oneof(
  { weight: 4, arbitrary: FastCheck.constant("production" as const) },
  { weight: 1, arbitrary: FastCheck.constant("sandbox" as const) }
)
const rarely = FastCheck.nat(5).map((n) => n === 0)

/** The part of a price that goes back, in a thousandth of it. */
const share = FastCheck.oneof(
  { weight: 4, arbitrary: FastCheck.constant(null) },
  { weight: 1, arbitrary: FastCheck.integer({ min: 1, max: 999 }) }
)
const backOf = (price: number | null, thousandths: number | null) =>
  price === null || thousandths === null ? null : Math.floor((price * thousandths) / 1000)

const stretch = FastCheck.record({
  product: FastCheck.constantFrom(...Object.keys(products), "gone"),
  type: FastCheck.constantFrom<Array<Period["type"]>>("normal", "normal", "normal", "trial", "intro"),
  days: FastCheck.constantFrom(1, 3, 7, 14, 28, 30, 31, 61, 91, 365),
  gap: FastCheck.constantFrom(0, 0, 0, 0, 5 * hour, 3 * day, 24 * day),
  lasts: FastCheck.constantFrom(1, 1, 1, 1, 1.25, 0.5, 0),
  price,
  currency,
  isRefunded: rarely,
  back: share
})

const chain = FastCheck.record({
  start: moment,
  environment,
  isFamilyShared: rarely,
  status: FastCheck.constantFrom<Array<Chain["status"]>>("active", "in_grace_period", "in_billing_retry", "on_hold"),
  graceUntil: FastCheck.oneof(FastCheck.constant(null), moment),
  stretches: FastCheck.array(stretch, { minLength: 1, maxLength: 7 })
}).map(({ start, stretches, ...rest }): Chain => {
  let next = start
  const periods = stretches.map((one, index) => {
    const from = next
    const expires = from + one.days * day
    const until = from + Math.round((one.days * one.lasts * day) / hour) * hour
    next = until + one.gap
    const { currency, isRefunded, price, product, type } = one
    const back = isRefunded ? null : backOf(price, one.back)
    return { id: `${index}`, product, type, start: from, expires, until, price, currency, isRefunded, back }
  })
  return { ...rest, periods }
})

/** Ledgers with several currencies, trials, offers, gaps, product changes, refunds, families, sandbox, one-time items. */
const ledger: FastCheck.Arbitrary<Ledger> = FastCheck.record({
  customers: FastCheck.array(moment, { minLength: 1, maxLength: 10 }),
  chains: FastCheck.array(chain, { maxLength: 12 }),
  oneTime: FastCheck.array(
    FastCheck.record({
      environment,
      product: FastCheck.constantFrom("coins", "monthly"),
      at: moment,
      price: FastCheck.integer({ min: 0, max: 9_990_000 }),
      currency: FastCheck.constantFrom("USD", "JPY"),
      isRefunded: rarely,
      back: share
    }).map(({ back, ...item }): OneTime => ({ ...item, back: item.isRefunded ? null : backOf(item.price, back) })),
    { maxLength: 5 }
  )
})

export interface Question {
  readonly environment: Environment
  readonly from: number
  readonly days: number
  readonly now: number
}

/** A range that began, and a now within or after it: often one at which something begins or ends. */
const questionOf = ({ chains }: Ledger): FastCheck.Arbitrary<Question> =>
  FastCheck.record({
    environment,
    now: FastCheck.oneof(
      moment,
      ...chains.map(({ periods }) => FastCheck.constantFrom(...periods.flatMap(({ start, until }) => [start, until])))
    ),
    ago: FastCheck.nat(90),
    days: FastCheck.integer({ min: 1, max: 100 })
  }).map(({ ago, ...rest }) => ({ ...rest, from: Math.floor(rest.now / day) * day - ago * day }))

export const questioned: FastCheck.Arbitrary<readonly [Ledger, Question]> = ledger.chain((rows) =>
  questionOf(rows).map((question) => [rows, question] as const)
)
