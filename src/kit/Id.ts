import { Clock, Effect } from "effect"
import { v7 } from "uuid"

let lastMillis = 0
let sequence = 0

/** A UUID version 7. Ids made by one process sort in the order in which they were made, within a millisecond too. */
export const nextId: Effect.Effect<string> = Effect.map(Clock.currentTimeMillis, (millis) => {
  sequence = millis === lastMillis ? (sequence + 1) >>> 0 : 0
  lastMillis = millis
  return v7({ msecs: millis, seq: sequence })
})
