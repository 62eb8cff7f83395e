import { randomFillSync } from "node:crypto"
import { Clock, DateTime, Effect } from "effect"
import { v7 } from "uuid"

let lastMillis = 0
let sequence = 0

/** Randomness in stock: asking the system for each id costs more than all else here. */
const stock = new Uint8Array(16 * 256)
let used = stock.length

const random = () => {
  if (used === stock.length) {
    randomFillSync(stock)
    used = 0
  }
  used += 16
  return stock.subarray(used - 16, used)
}

/** A UUID version 7 of the present moment, for who has asked the clock already. */
export const idAt = (millis: number): string => {
  sequence = millis === lastMillis ? (sequence + 1) >>> 0 : 0
  lastMillis = millis
  return v7({ msecs: millis, seq: sequence, random: random() })
}

/** A UUID version 7. Ids made by one process sort in the order in which they were made, within a millisecond too. */
export const nextId: Effect.Effect<string> = Effect.map(Clock.currentTimeMillis, idAt)

const tail = 0x1000000000000n

/** The nth id after another: what belongs together under one id is stored under it and those that follow. */
export const idAfter = (id: string, nth: number): string => {
  const last = (BigInt(`0x${id.slice(-12)}`) + BigInt(nth)) % tail
  return `${id.slice(0, -12)}${last.toString(16).padStart(12, "0")}`
}

/** The least id that `nextId` makes at a moment or later: what a range of time is in a list that is ordered by id. */
export const firstIdAt = (moment: DateTime.Utc): string => {
  const millis = Math.max(0, Math.floor(DateTime.toEpochMillis(moment)))
    .toString(16)
    .padStart(12, "0")
    .slice(-12)
  return `${millis.slice(0, 8)}-${millis.slice(8)}-7000-8000-000000000000`
}
