import { type Chain, day, type Ledger, type Period, products, type Question } from "./RandomLedger.ts"

type Amounts = Record<string, number>

const isoDay = (moment: number) => new Date(moment).toISOString().slice(0, 10)

/** RevenueCat's table: how often a price counts in a month, as a fraction. */
const byPeriod: Record<string, readonly [number, number]> = {
  P1D: [30, 1],
  P1W: [4, 1],
  P2W: [2, 1],
  P1M: [1, 1],
  P3M: [1, 3],
  P1Y: [1, 12]
}
const byDays: Record<number, readonly [number, number]> = {
  1: [30, 1],
  3: [10, 1],
  7: [4, 1],
  14: [2, 1],
  28: [1, 1],
  30: [1, 1],
  31: [1, 1],
  61: [1, 2],
  91: [1, 3],
  365: [1, 12]
}

const monthly = (period: Period): number => {
  const own = period.type === "normal" ? byPeriod[products[period.product] ?? ""] : undefined
  const [times, over] = own ?? byDays[(period.expires - period.start) / day] ?? [NaN, 1]
  const doubled = BigInt(2 * (period.price ?? 0) * times)
  return Number((doubled + BigInt(over)) / BigInt(2 * over))
}

const add = (amounts: Amounts, currency: string, micros: number) => {
  amounts[currency] = (amounts[currency] ?? 0) + micros
}

/** What went back of a sale. */
const backOf = ({ back, isRefunded, price }: Pick<Period, "back" | "isRefunded" | "price">): number =>
  isRefunded ? (price ?? 0) : (back ?? 0)

/** A moment sees what began before it and lasts until it or longer. */
const sees = (moment: number) => (period: Period) => period.start < moment && period.until >= moment

/**
 * The definitions, one after the other, over every row: slow and obvious. The other way to the same figures is SQL.
 */
export const referenceStats = ({ chains, customers, oneTime }: Ledger, question: Question) => {
  const { days, environment, from, now } = question
  const until = from + days * day
  const at = Math.min(until, now)
  const isIn = (moment: number) => moment >= from && moment < until
  const hasPassed = (moment: number) => moment >= from && moment < at

  const ours = chains.filter((chain) => chain.environment === environment && !chain.isFamilyShared)
  const periods = ours.flatMap((chain) => chain.periods)
  const paidOf = (chain: Chain) => chain.periods.filter(({ type }) => type !== "trial")
  const paid = ours.flatMap(paidOf)
  const sold = [
    ...periods.map(({ back, currency, isRefunded, price, product, start }) => ({
      moment: start,
      back,
      currency,
      isRefunded,
      price,
      product
    })),
    ...oneTime.filter((item) => item.environment === environment).map(({ at, ...item }) => ({ ...item, moment: at }))
  ].filter(({ moment }) => isIn(moment))

  const revenue = (isWanted: (sale: (typeof sold)[number]) => boolean): Amounts => {
    const amounts: Amounts = {}
    for (const sale of sold.filter(isWanted)) {
      if (sale.price === null || sale.price === 0 || sale.currency === null) continue
      add(amounts, sale.currency, sale.price - backOf(sale))
    }
    return amounts
  }
  const refunds = (isWanted: (sale: (typeof sold)[number]) => boolean): Amounts => {
    const amounts: Amounts = {}
    for (const sale of sold.filter(isWanted)) {
      if (sale.currency !== null && backOf(sale) > 0) add(amounts, sale.currency, backOf(sale))
    }
    return amounts
  }
  const mrr = (isWanted: (period: Period) => boolean): Amounts => {
    const amounts: Amounts = {}
    for (const period of paid.filter(sees(at)).filter(isWanted)) {
      if (period.currency !== null && period.price !== null) add(amounts, period.currency, monthly(period))
    }
    return amounts
  }

  let ended = 0
  let cameBack = 0
  for (const chain of ours) {
    const own = paidOf(chain)
    own.forEach((period, index) => {
      const next = own[index + 1]
      const isGap = next === undefined || next.start > period.until
      if (isGap && hasPassed(period.until)) ended++
      if (isGap && next !== undefined && hasPassed(next.start)) cameBack++
    })
  }

  let trials = 0
  let converted = 0
  for (const chain of ours) {
    chain.periods.forEach((period, index) => {
      if (period.type !== "trial" || !hasPassed(period.start)) return
      trials++
      const next = chain.periods[index + 1]
      if (next !== undefined && next.type !== "trial" && !next.isRefunded) converted++
    })
  }

  const isTroubled = (status: Chain["status"]) =>
    ours.filter(
      (chain) =>
        chain.status === status &&
        (status !== "in_grace_period" || (chain.graceUntil ?? chain.periods.at(-1)?.expires ?? 0) > now)
    ).length

  const everyDay = Array.from({ length: days }, (_, index) => from + index * day)
  const names = [
    ...new Set([
      ...periods.filter(sees(at)).map(({ product }) => product),
      ...sold
        .filter(({ currency, price }) => price !== null && price > 0 && currency !== null)
        .map(({ product }) => product)
    ])
  ].sort()

  return {
    customers: customers.filter((firstSeen) => firstSeen < until).length,
    newCustomers: customers.filter(isIn).length,
    activeSubscriptions: paid.filter(sees(at)).length,
    activeTrials: periods.filter(sees(at)).filter(({ type }) => type === "trial").length,
    inGracePeriod: isTroubled("in_grace_period"),
    inBillingRetry: isTroubled("in_billing_retry"),
    onHold: isTroubled("on_hold"),
    churned: ended - cameBack,
    churn: { part: ended - cameBack, whole: paid.filter(sees(from)).length },
    trialConversions: converted,
    conversion: { part: converted, whole: trials },
    mrr: mrr(() => true),
    revenue: revenue(() => true),
    refunds: refunds(() => true),
    byProduct: names.map((name) => ({
      store: "store_a" as const,
      productIdentifier: name,
      activeSubscriptions: paid.filter(sees(at)).filter(({ product }) => product === name).length,
      activeTrials: periods.filter(sees(at)).filter(({ product, type }) => product === name && type === "trial").length,
      mrr: mrr(({ product }) => product === name),
      revenue: revenue(({ product }) => product === name),
      refunds: refunds(({ product }) => product === name)
    })),
    series: {
      day: everyDay.map(isoDay),
      revenue: everyDay.map((one) => revenue(({ moment }) => isoDay(moment) === isoDay(one))),
      activeSubscriptions: everyDay.map((one) => paid.filter(sees(Math.min(one + day, now))).length)
    }
  }
}
