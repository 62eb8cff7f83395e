import { Deferred, Effect, FiberId } from "effect"

/** Counts what is being written back without a fiber that waits for it. */
export class Keeping {
  #count = 0
  #ended = Deferred.unsafeMake<void>(FiberId.none)

  begin() {
    this.#count += 1
  }

  end() {
    this.#count -= 1
    if (this.#count > 0) return
    const ended = this.#ended
    this.#ended = Deferred.unsafeMake<void>(FiberId.none)
    Deferred.unsafeDone(ended, Effect.void)
  }

  /** Waits until nothing is. */
  readonly over = Effect.suspend(() => (this.#count === 0 ? Effect.void : Deferred.await(this.#ended)))
}
