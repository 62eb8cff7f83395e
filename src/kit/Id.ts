import { randomFillSync } from "node:crypto"
import { Clock, Effect } from "effect"
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

/** A UUID version 7. Ids made by one process sort in the order in which they were made, within a millisecond too. */
export const nextId: Effect.Effect<string> = Effect.map(Clock.currentTimeMillis, (millis) => {
  sequence = millis === lastMillis ? (sequence + 1) >>> 0 : 0
  lastMillis = millis
  return v7({ msecs: millis, seq: sequence, random: random() })
})
