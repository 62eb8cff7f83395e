import { Effect } from "effect"

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

  through<A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.uninterruptibleMask((restore) =>
      Effect.zipRight(restore(this.#take), Effect.ensuring(restore(call), this.#release))
    )
  }

  readonly #turn = Effect.async<void>((resume) => {
    const call = () => resume(Effect.void)
    this.#waiting.add(call)
    // Whoever was called and goes away leaves the permit to the next.
    return Effect.sync(() => (this.#waiting.delete(call) ? undefined : this.#callNext()))
  })

  readonly #take: Effect.Effect<void> = Effect.suspend(() => {
    if (this.#free === 0) return Effect.zipRight(this.#turn, this.#take)
    this.#free -= 1
    return Effect.void
  })

  readonly #release = Effect.sync(() => {
    this.#free += 1
    this.#callNext()
  })

  #callNext() {
    const [first] = this.#waiting
    if (first === undefined) return
    this.#waiting.delete(first)
    first()
  }
}
