import { Effect, Metric, Schedule } from "effect"
import { actorRestarts } from "../Metrics.ts"

const backoff = Schedule.exponential("1 second").pipe(
  Schedule.union(Schedule.spaced("1 minute")),
  Schedule.jittered,
  Schedule.resetAfter("5 minutes")
)

/**
 * Runs an actor for ever: a failure or defect is logged, counted and followed by a restart with backoff (1 s doubling to
 * 1 min, jittered, from 1 s again after 5 calm
 * minutes). Interruption ends it for good. Contract, part 5, promise 3.
 */
export const supervise = <A, E, R>(actor: string, run: Effect.Effect<A, E, R>): Effect.Effect<A, never, R> =>
  run.pipe(
    Effect.sandbox,
    Effect.tapError((cause) =>
      Effect.logWarning("actor crashed, restarting", cause).pipe(
        Effect.zipRight(Metric.increment(Metric.tagged(actorRestarts, "actor", actor)))
      )
    ),
    Effect.retry(backoff),
    Effect.annotateLogs({ actor }),
    Effect.orDie
  )
