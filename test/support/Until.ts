import { Data, Effect, Schedule } from "effect"

class NotYet extends Data.TaggedError("NotYet")<{}> {}

/** Reads again until the answer is right; a test that runs into its time-out shows the last one. */
export const until = <A, E, R>(read: Effect.Effect<A, E, R>, isRight: (answer: A) => boolean) =>
  Effect.flatMap(read, (answer) => (isRight(answer) ? Effect.succeed(answer) : Effect.fail(new NotYet()))).pipe(
    Effect.retry({ while: (error) => error instanceof NotYet, schedule: Schedule.spaced("20 millis") }),
    Effect.timeout("20 seconds"),
    Effect.orDie
  )
