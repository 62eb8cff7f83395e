import type { Option } from "effect"
import type { StoreName } from "../../catalog/domain/Product.ts"
import { type Amounts, Sum } from "./Amounts.ts"
import { monthlyMicros } from "./MonthlyPrice.ts"
import { daysOf, type StatsRange } from "./StatsRange.ts"

/** Money that was taken, gross, and how much of it was given back; micros of one currency. */
export interface Takings {
  readonly currency: string
  readonly grossMicros: number
  readonly refundMicros: number
}

export interface ProductName {
  readonly store: StoreName
  readonly productIdentifier: string
}

/** Equal running periods of one product: how many there are, and what one of them cost for how many days. */
export interface Running extends ProductName {
  readonly isTrial: boolean
  readonly currency: string | null
  readonly priceMicros: number | null
  readonly subscriptionPeriod: Option.Option<string>
  readonly days: number
  readonly count: number
}

/** What the ledger says of a range; days are `YYYY-MM-DD`. */
export interface Tallies {
  readonly customers: number
  readonly newCustomers: number
  readonly troubled: { readonly in_grace_period: number; readonly in_billing_retry: number; readonly on_hold: number }
  readonly takingsByDay: ReadonlyArray<Takings & { readonly day: string }>
  readonly takingsByProduct: ReadonlyArray<Takings & ProductName>
  /** Periods that run at the end of the range, or now. */
  readonly running: ReadonlyArray<Running>
  /** Paid subscriptions that ran when the range began. */
  readonly activeAtStart: number
  /** By day, paid periods that began less those that ended. */
  readonly changes: ReadonlyArray<{ readonly day: string; readonly change: number }>
  /** Purchase chains whose first paid period began in the range. */
  readonly firstPaid: number
  readonly trials: number
  readonly trialConversions: number
}

const percent = (part: number, whole: number): number | null =>
  whole === 0 ? null : Math.round((part / whole) * 10_000) / 100

const revenueOf = (takings: ReadonlyArray<Takings>): Amounts => {
  const sum = new Sum()
  for (const { currency, grossMicros, refundMicros } of takings) sum.add(currency, grossMicros - refundMicros)
  return sum.amounts
}

const refundsOf = (takings: ReadonlyArray<Takings>): Amounts => {
  const sum = new Sum()
  for (const { currency, refundMicros } of takings) if (refundMicros > 0) sum.add(currency, refundMicros)
  return sum.amounts
}

const mrrOf = (running: ReadonlyArray<Running>): Amounts => {
  const sum = new Sum()
  for (const { count, currency, days, isTrial, priceMicros, subscriptionPeriod } of running) {
    if (isTrial || priceMicros === null || currency === null) continue
    sum.add(currency, count * monthlyMicros(priceMicros, subscriptionPeriod, days))
  }
  return sum.amounts
}

const countOf = (running: ReadonlyArray<Running>, isTrial: boolean): number =>
  running.reduce((sum, group) => (group.isTrial === isTrial ? sum + group.count : sum), 0)

const keyOf = ({ productIdentifier, store }: ProductName): string => `${store} ${productIdentifier}`

const grouped = <Row extends ProductName>(rows: ReadonlyArray<Row>): ReadonlyMap<string, ReadonlyArray<Row>> => {
  const groups = new Map<string, Array<Row>>()
  for (const row of rows) {
    const group = groups.get(keyOf(row))
    if (group === undefined) groups.set(keyOf(row), [row])
    else group.push(row)
  }
  return groups
}

const productsOf = ({ running, takingsByProduct }: Tallies) => {
  const names = new Map([...running, ...takingsByProduct].map((row) => [keyOf(row), row] as const))
  const runningBy = grouped(running)
  const takingsBy = grouped(takingsByProduct)
  return [...names]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, { productIdentifier, store }]) => {
      const periods = runningBy.get(key) ?? []
      const takings = takingsBy.get(key) ?? []
      return {
        store,
        productIdentifier,
        activeSubscriptions: countOf(periods, false),
        activeTrials: countOf(periods, true),
        mrr: mrrOf(periods),
        revenue: revenueOf(takings),
        refunds: refundsOf(takings)
      }
    })
}

const seriesOf = (range: StatsRange, { activeAtStart, changes, takingsByDay }: Tallies) => {
  const changeOn = new Map(changes.map(({ change, day }) => [day, change] as const))
  const takingsOn = new Map<string, Array<Takings>>()
  for (const takings of takingsByDay) takingsOn.set(takings.day, [...(takingsOn.get(takings.day) ?? []), takings])
  const day = daysOf(range)
  let active = activeAtStart
  return {
    day,
    revenue: day.map((one) => revenueOf(takingsOn.get(one) ?? [])),
    activeSubscriptions: day.map((one) => (active += changeOn.get(one) ?? 0))
  }
}

/**
 * The figures of a range (contract, part 3, "Stats"), in RevenueCat's definitions. Money is micros.
 *
 * - Revenue is what was paid in the range less refunds of those same payments, whenever they came; refunds likewise.
 * - MRR is the sum of the monthly prices of the paid subscriptions that run at the end of the range.
 * - Churned are the paid subscriptions that ended in the range less those that came back in it. Since periods of a chain
 *   do not overlap, that is what ran at its start, plus the first paid periods, less what runs at its end. The rate is in
 *   percent of those at the start; none without any.
 * - Trials are counted by the day they began; converted is one whose next period is paid and not refunded, to this day.
 */
export const statsOf = (range: StatsRange, tallies: Tallies) => {
  const active = countOf(tallies.running, false)
  const churned = tallies.activeAtStart + tallies.firstPaid - active
  return {
    customers: tallies.customers,
    newCustomers: tallies.newCustomers,
    activeSubscriptions: active,
    activeTrials: countOf(tallies.running, true),
    inGracePeriod: tallies.troubled.in_grace_period,
    inBillingRetry: tallies.troubled.in_billing_retry,
    onHold: tallies.troubled.on_hold,
    churned,
    churnRate: percent(churned, tallies.activeAtStart),
    trialConversions: tallies.trialConversions,
    trialConversionRate: percent(tallies.trialConversions, tallies.trials),
    mrr: mrrOf(tallies.running),
    revenue: revenueOf(tallies.takingsByProduct),
    refunds: refundsOf(tallies.takingsByProduct),
    byProduct: productsOf(tallies),
    series: seriesOf(range, tallies)
  }
}

export type StatsView = ReturnType<typeof statsOf>
