import { Clock, Duration, Effect } from "effect"

/**
 * So many calls at a time, and the others in a queue. Effect's own semaphore wakes all who wait for every permit that comes
 * free: with thousands of replies waiting for a provider the program would do nothing else.
 */
export class Lane {
  #free: number
  readonly #waiting = new Set<() => void>()

  constructor(atOnce: number) {
    this.#free = atOnce
  }

  /** Fails when its turn does not come in time. */
  through<A, E, R>(
    call: Effect.Effect<A, E, R>,
    patience: Duration.DurationInput
  ): Effect.Effect<A, E | "too late", R> {
    return Effect.uninterruptibleMask((restore) =>
      Effect.zipRight(this.#permit(restore, patience), Effect.ensuring(restore(call), this.#release))
    )
  }

  /** Taken by the caller's own fiber and where nothing interrupts it: what is taken is given back. */
  #permit(restore: <A, E>(wait: Effect.Effect<A, E>) => Effect.Effect<A, E>, patience: Duration.DurationInput) {
    const take: Effect.Effect<boolean> = Effect.sync(() => {
      if (this.#free === 0) return false
      this.#free -= 1
      return true
    })
    const taken = (deadline: number): Effect.Effect<void, "too late"> =>
      Effect.flatMap(take, (isTaken) =>
        isTaken ? Effect.void : Effect.zipRight(restore(this.#calledBefore(deadline)), taken(deadline))
      )
    return Effect.flatMap(Clock.currentTimeMillis, (now) => taken(now + Duration.toMillis(patience)))
  }

  /** Whoever was called and goes away all the same leaves the permit to the next. */
  #calledBefore(deadline: number): Effect.Effect<void, "too late"> {
    return Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Effect.timeoutFail(this.#turn, {
        duration: Duration.millis(deadline - now),
        onTimeout: () => "too late" as const
      })
    ).pipe(Effect.onError(() => Effect.sync(() => this.#callNext())))
  }

  /** Looks once more before it waits: a permit may have come free in between. */
  readonly #turn = Effect.async<void>((resume) => {
    const call = () => resume(Effect.void)
    if (this.#free > 0) return call()
    this.#waiting.add(call)
    return Effect.sync(() => this.#waiting.delete(call))
  })

  readonly #release = Effect.sync(() => {
    this.#free += 1
    this.#callNext()
  })

  #callNext() {
    const [first] = this.#waiting
    if (first === undefined || this.#free === 0) return
    this.#waiting.delete(first)
    first()
  }
}
