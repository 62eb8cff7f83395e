import { DateTime, Schema } from "effect"

const shape = /^P(?!$)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/

/** An ISO 8601 duration of simulated time: `P1M`, `P7D`, `P1Y`, `PT12H`. */
export const Period = Schema.String.pipe(
  Schema.filter(
    (text) => (shape.test(text) && /[1-9]/.test(text)) || "must be an ISO 8601 duration such as P1M, P7D or PT12H"
  ),
  Schema.annotations({ jsonSchema: { type: "string", description: "ISO 8601 duration of simulated time, e.g. P1M" } })
)

/** A duration of simulated time, or a number of real seconds that no clock makes shorter. */
export type Length = string | number

/** How many real seconds a simulated month lasts; `null` is the calendar's own pace. */
export type Scale = number | null

const shortest = 100
const daysOfMonth = 30
const monthsOfYear = 12

const parts = (period: string) => {
  const [, years, months, weeks, days, hours, minutes, seconds] = shape.exec(period) ?? []
  const number = (text: string | undefined) => Number(text ?? 0)
  return {
    months: number(years) * monthsOfYear + number(months),
    days: number(weeks) * 7 + number(days),
    hours: number(hours) + number(minutes) / 60 + number(seconds) / 3600
  }
}

/**
 * The moment that lies a length after another; both in milliseconds since 1970. A month of a scale has
 * 30 days, and nothing simulated is shorter than a tenth of a second, so that time never outruns the machine.
 */
export const after = (moment: number, length: Length, scale: Scale): number => {
  if (typeof length === "number") return moment + Math.max(shortest, Math.round(length * 1000))
  const { days, hours, months } = parts(length)
  if (scale === null) {
    const later = DateTime.add(DateTime.unsafeMake(moment), { months, days })
    return DateTime.toEpochMillis(later) + Math.round(hours * 3_600_000)
  }
  return moment + Math.max(shortest, Math.round((months + (days + hours / 24) / daysOfMonth) * scale * 1000))
}
