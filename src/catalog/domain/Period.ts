import { Option } from "effect"

export type PeriodUnit = "D" | "W" | "M" | "Y"

/** How long a subscription runs until it renews. */
export interface Period {
  readonly count: number
  readonly unit: PeriodUnit
}

const isUnit = (unit: string | undefined): unit is PeriodUnit =>
  unit === "D" || unit === "W" || unit === "M" || unit === "Y"

/** An ISO 8601 duration of the shape `P<n><unit>`, n from 1 to 999; none for every other text. */
export const parsePeriod = (text: string): Option.Option<Period> => {
  const [, count, unit] = /^P([1-9]\d{0,2})([DWMY])$/.exec(text) ?? []
  return count === undefined || !isUnit(unit) ? Option.none() : Option.some({ count: Number(count), unit })
}

export const formatPeriod = ({ count, unit }: Period): string => `P${count}${unit}`
