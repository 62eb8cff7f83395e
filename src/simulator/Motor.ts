import { Effect, Option, Queue } from "effect"
import type { StoreClock } from "./StoreClock.ts"

/** What happens by itself: `due` is the next moment in milliseconds since 1970, `run` does all that is due by then. */
export interface Work {
  readonly due: () => number | undefined
  readonly run: (now: number) => Effect.Effect<void>
}

const shortestRest = 5
const longestRest = 3_600_000

/** What is due has changed: whoever sleeps until then looks again. */
export const makeAlarm = Effect.map(Queue.sliding<void>(1), (queue) => ({
  wake: Queue.offer(queue, undefined),
  rung: Queue.take(queue)
}))
export type Alarm = Effect.Effect.Success<typeof makeAlarm>

/** Does each work when the store's clock reaches it, for as long as the scope lives. */
export const startMotor = Effect.fn("Motor.start")(function* (
  clock: StoreClock,
  alarm: Alarm,
  works: ReadonlyArray<Work>
) {
  const turn = Effect.gen(function* () {
    const now = yield* clock.now
    yield* Effect.forEach(works, (work) => work.run(now), { discard: true })
    const dues = works.flatMap((work) => Option.toArray(Option.fromNullable(work.due())))
    const rest = clock.isRunning() ? Math.min(longestRest, ...dues.map((due) => due - now)) : longestRest
    yield* Effect.raceFirst(alarm.rung, Effect.sleep(Math.max(shortestRest, rest)))
  })

  yield* Effect.forkScoped(Effect.forever(turn))
})
