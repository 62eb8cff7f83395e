import { Array, Context, Duration, Effect, Exit } from "effect"

interface Asked<A, B, E> {
  readonly one: A
  readonly answer: (exit: Exit.Exit<B, E>) => void
}

/**
 * Does for many at once what each asks for alone: whoever asks while a turn is under way goes with the next one, `atOnce`
 * of them at most, so that a thousand callers cost a few statements and not a thousand. `all` answers in the order of what
 * it was asked. When it fails for several, each is tried alone: what is wrong with one is not the trouble of those beside
 * it. What was asked is done also for a caller who goes away. A turn waits until as many ask as in the turn
 * before, no longer than `gathering`; who comes after one alone is not kept waiting. Whoever holds a lock that `all` takes as
 * well, in a transaction of his own, would wait for ever and everybody with him.
 */
export const together = <A, B, E>(
  atOnce: number,
  all: (asked: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B>, E>,
  gathering: Duration.Duration = Duration.zero
) =>
  Effect.gen(function* () {
    const waiting: globalThis.Array<Asked<A, B, E>> = []
    const bell = yield* Effect.makeLatch()

    const tell = (batch: ReadonlyArray<Asked<A, B, E>>, exit: Exit.Exit<ReadonlyArray<B>, E>) =>
      Effect.sync(() =>
        batch.forEach(({ answer }, nth) => answer(Exit.map(exit, (answers) => Array.unsafeGet(answers, nth))))
      )
    const served = (batch: ReadonlyArray<Asked<A, B, E>>): Effect.Effect<void> =>
      Effect.flatMap(Effect.exit(all(batch.map(({ one }) => one))), (exit) =>
        Exit.isFailure(exit) && batch.length > 1
          ? Effect.forEach(batch, (one) => served([one]), { discard: true })
          : tell(batch, exit)
      )
    const isWaitedFor = Duration.greaterThan(gathering, Duration.zero)
    let before = 1
    const enough = yield* Effect.makeLatch()
    const gathered = Effect.suspend(() =>
      isWaitedFor && waiting.length < before ? Effect.timeoutOption(enough.await, gathering) : Effect.void
    )
    const next = Effect.suspend(() => {
      const batch = waiting.splice(0, atOnce)
      before = batch.length
      enough.unsafeClose()
      if (waiting.length === 0) bell.unsafeClose()
      return Effect.uninterruptible(served(batch))
    })
    const turn = Effect.zipRight(Effect.zipRight(bell.await, gathered), next)
    const turns = Effect.withTracerEnabled(Effect.forever(turn), false)
    // Every span and transaction copies the context: with all services of the program that costs more than the work.
    yield* Effect.forkScoped(Effect.mapInputContext(turns, (_: Context.Context<never>) => Context.empty()))

    return (one: A): Effect.Effect<B, E> =>
      Effect.async<B, E>((resume) => {
        waiting.push({ one, answer: resume })
        bell.unsafeOpen()
        if (waiting.length >= before) enough.unsafeOpen()
      })
  })
