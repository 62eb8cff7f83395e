import { Effect, Layer, Schedule } from "effect"
import { supervise } from "../../kit/Supervise.ts"
import { StoreBReadings } from "../StoreBReadings.ts"

/**
 * Tells store B again of purchases that it waits for and did not hear of (contract, part 3, "Receipts"). What is due is a
 * row, and several processes take different ones.
 */
export const layer = Layer.scopedDiscard(
  Effect.flatMap(StoreBReadings, ({ acknowledgeDue }) =>
    Effect.forkScoped(
      supervise("AcknowledgePurchases", Effect.repeat(acknowledgeDue, Schedule.jittered(Schedule.spaced("30 seconds"))))
    )
  )
)
