import { type Cause, Duration, Effect, Metric, type Option, Schedule } from "effect"
import { actorRestarts } from "../Metrics.ts"

const backoff = Schedule.exponential("1 second").pipe(
  Schedule.union(Schedule.spaced("1 minute")),
  Schedule.jittered,
  Schedule.resetAfter("5 minutes")
)

const tellCrash = (actor: string) => (cause: Cause.Cause<unknown>) =>
  Effect.logWarning("actor crashed, restarting", cause).pipe(
    Effect.zipRight(Metric.increment(Metric.tagged(actorRestarts, "actor", actor)))
  )

/**
 * Runs an actor for ever: a failure or defect is logged, counted and followed by a restart with backoff (1 s doubling to
 * 1 min, jittered, from 1 s again after 5 calm
 * minutes). Interruption ends it for good. Contract, part 5, promise 3.
 */
export const supervise = <A, E, R>(actor: string, run: Effect.Effect<A, E, R>): Effect.Effect<A, never, R> =>
  run.pipe(
    Effect.sandbox,
    Effect.tapError(tellCrash(actor)),
    Effect.retry(backoff),
    Effect.annotateLogs({ actor }),
    Effect.orDie
  )

/** One turn of an actor that another one runs turn by turn: a crash is told as above and answered with none. */
export const survived = <A, E, R>(
  actor: string,
  turn: Effect.Effect<A, E, R>
): Effect.Effect<Option.Option<A>, never, R> =>
  turn.pipe(
    Effect.sandbox,
    Effect.tapError((cause) => Effect.annotateLogs(tellCrash(actor)(cause), { actor })),
    Effect.option
  )

/** The pause of such an actor after the nth crash in a row: 1 s doubling to 1 min, jittered by a `chance` in [0, 1). */
export const afterCrash = (times: number, chance: number): Duration.Duration =>
  Duration.times(Duration.seconds(Math.min(2 ** (times - 1), 60)), 0.8 + 0.4 * chance)
