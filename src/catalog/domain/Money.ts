const microsPerUnit = 1_000_000

/** A decimal number in major units as integer micros; inputs are validated to at most six decimals. */
export const toMicros = (amount: number): number => Math.round(amount * microsPerUnit)

/** Integer micros as the decimal number that goes over the wire. */
export const fromMicros = (micros: number): number => micros / microsPerUnit
