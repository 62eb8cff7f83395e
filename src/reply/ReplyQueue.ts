import { Effect, Layer, Metric, Schedule } from "effect"
import { supervise } from "../kit/Supervise.ts"
import { aiRepliesWaiting } from "../Metrics.ts"
import { AiLogRepo } from "./AiLogRepo.ts"

const measure = Effect.gen(function* () {
  const logs = yield* AiLogRepo
  yield* Metric.set(aiRepliesWaiting, yield* logs.countOpen())
})

/** Counts the replies that have not ended, for `/metrics`. */
export const layer = Layer.scopedDiscard(
  Effect.forkScoped(supervise("ReplyQueue", Effect.repeat(measure, Schedule.spaced("15 seconds"))))
)
