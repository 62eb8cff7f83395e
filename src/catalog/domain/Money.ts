import { Option } from "effect"

const decimals = 6
const microsPerUnit = 10 ** decimals

/** Nine digits before and six behind the point: every such amount passes through a JSON number and back unchanged. */
export const mostMicros = 10 ** (9 + decimals) - 1

/**
 * A decimal number in major units as integer micros, read from its digits and never multiplied: exact, or none for what
 * is negative, has more than six decimals (`0.1 + 0.2`) or more than nine digits before the point (contract, part 3).
 */
export const toMicros = (amount: number): Option.Option<number> => {
  const digits = /^(\d{1,9})(?:\.(\d{1,6}))?$/.exec(plain(amount))
  return digits === null ? Option.none() : Option.some(Number(`${digits[1]}${(digits[2] ?? "").padEnd(decimals, "0")}`))
}

/** Integer micros as the decimal number that goes over the wire. */
export const fromMicros = (micros: number): number => micros / microsPerUnit

/** JavaScript writes what is smaller than a millionth with an exponent: such digits are refused like any too many. */
const plain = (amount: number): string => (Object.is(amount, -0) ? "0" : String(amount))
