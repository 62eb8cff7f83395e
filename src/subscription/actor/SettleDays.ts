import { Effect, Layer, Schedule } from "effect"
import { supervise } from "../../kit/Supervise.ts"
import { Stats } from "../Stats.ts"

/** Keeps past days of the ledger summed up. */
export const layer = Layer.scopedDiscard(
  Effect.flatMap(Stats, ({ settle }) =>
    Effect.forkScoped(
      supervise(
        "SettleDays",
        Effect.repeat(
          Effect.repeat(settle, { while: (count) => count > 0 }),
          Schedule.jittered(Schedule.spaced("1 minute"))
        )
      )
    )
  )
)
