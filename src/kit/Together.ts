import { Array, Chunk, Deferred, Effect, Exit, Queue } from "effect"

interface Asked<A, B, E> {
  readonly one: A
  readonly answer: Deferred.Deferred<B, E>
}

/** Callers that wait to be served; one more has to wait to ask. */
const waitingAtMost = 4096

/**
 * Does for many at once what each asks for alone: whoever asks while a turn is under way goes with the next one, so that
 * a thousand callers cost a few statements and not a thousand. `all` answers in the order of what it was asked. When it
 * fails for several, each is tried alone: what is wrong with one is not the trouble of those beside it.
 */
export const together = <A, B, E>(
  options: { readonly atOnce: number; readonly lanes: number },
  all: (asked: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B>, E>
) =>
  Effect.gen(function* () {
    const queue = yield* Queue.bounded<Asked<A, B, E>>(waitingAtMost)

    const tell = (batch: ReadonlyArray<Asked<A, B, E>>, exit: Exit.Exit<ReadonlyArray<B>, E>) =>
      Effect.forEach(
        batch,
        ({ answer }, nth) =>
          Deferred.done(
            answer,
            Exit.map(exit, (answers) => Array.unsafeGet(answers, nth))
          ),
        { discard: true }
      )
    const served = (batch: ReadonlyArray<Asked<A, B, E>>): Effect.Effect<void> =>
      Effect.flatMap(Effect.exit(all(batch.map(({ one }) => one))), (exit) =>
        Exit.isFailure(exit) && batch.length > 1
          ? Effect.forEach(batch, (one) => served([one]), { discard: true })
          : tell(batch, exit)
      )
    const turn = Effect.flatMap(Queue.takeBetween(queue, 1, options.atOnce), (batch) =>
      Effect.uninterruptible(served(Chunk.toReadonlyArray(batch)))
    )
    yield* Effect.forEach(
      Array.range(1, options.lanes),
      () => Effect.forkScoped(Effect.withTracerEnabled(Effect.forever(turn), false)),
      { discard: true }
    )

    return (one: A): Effect.Effect<B, E> =>
      Effect.gen(function* () {
        const answer = yield* Deferred.make<B, E>()
        yield* Queue.offer(queue, { one, answer })
        return yield* Deferred.await(answer)
      })
  })
