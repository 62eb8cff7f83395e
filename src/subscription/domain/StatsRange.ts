import { DateTime, Either, Option } from "effect"

/** Whole UTC days: the first one and how many there are. */
export interface StatsRange {
  readonly from: DateTime.Utc
  readonly days: number
}

/** As long as a range may be: a year and a bit to compare with. */
export const longestRange = 400
const defaultDays = 28

const dayOf = (moment: DateTime.Utc): DateTime.Utc => DateTime.startOf(moment, "day")

const daysBetween = (from: DateTime.Utc, to: DateTime.Utc): number =>
  Math.round(DateTime.distance(from, to) / 86_400_000)

/** Fields of the query that make no range, each with its sentence. */
export type RangeProblems = { readonly [field: string]: readonly [string] }

/**
 * The days to count, both ends included. Without `to` they end today, without `from` they are the 28 days up to `to`
 * (contract, part 3, "Stats").
 */
export const statsRange = (
  query: { readonly from: Option.Option<DateTime.Utc>; readonly to: Option.Option<DateTime.Utc> },
  now: DateTime.Utc
): Either.Either<StatsRange, RangeProblems> => {
  const to = dayOf(Option.getOrElse(query.to, () => now))
  const from = dayOf(Option.getOrElse(query.from, () => DateTime.subtract(to, { days: defaultDays - 1 })))
  const days = daysBetween(from, to) + 1
  if (DateTime.greaterThan(from, now)) return Either.left({ from: ["must not lie in the future"] })
  if (days < 1) return Either.left({ from: ["must not be after to"] })
  if (days > longestRange) return Either.left({ to: [`must be less than ${longestRange} days after from`] })
  return Either.right({ from, days })
}

/** The moment after the range's last day. */
export const endOf = ({ days, from }: StatsRange): DateTime.Utc => DateTime.add(from, { days })

/** The days as `YYYY-MM-DD`, in order. */
export const daysOf = ({ days, from }: StatsRange): ReadonlyArray<string> =>
  Array.from({ length: days }, (_, index) => DateTime.formatIsoDateUtc(DateTime.add(from, { days: index })))
