import { Option, Record } from "effect"

const daysInMonth = 365.25 / 12

const monthsIn: { readonly [unit: string]: (count: number) => { readonly times: number; readonly over: number } } = {
  D: (count) => ({ times: 30, over: count }),
  W: (count) => ({ times: 4, over: count }),
  M: (count) => ({ times: 1, over: count }),
  Y: (count) => ({ times: 1, over: 12 * count })
}

const ofPeriod = (period: string) =>
  Option.flatMap(Option.fromNullable(/^P(\d+)([DWMY])$/.exec(period)), ([, count, unit]) =>
    Option.map(Record.get(monthsIn, unit ?? ""), (share) => share(Number(count)))
  )

const ofDays = (days: number) => {
  if (days >= 28) return { times: 1, over: Math.round(days / daysInMonth) }
  return days % 7 === 0 ? { times: 28, over: days } : { times: 30, over: days }
}

/**
 * What a period's price is worth a month, in integer micros, rounded half up (RevenueCat's factors: a day counts 30 times,
 * three days 10 times, a week 4 times, two weeks twice, a year a twelfth). The product's own period decides where it is
 * known; offers have lengths of their own, so there, and for products that the catalogue does not know, the whole days
 * that were bought decide.
 */
export const monthlyMicros = (priceMicros: number, period: Option.Option<string>, days: number): number => {
  const { over, times } = Option.getOrElse(Option.flatMap(period, ofPeriod), () => ofDays(Math.max(1, days)))
  return Math.floor((priceMicros * times) / over + 0.5)
}
