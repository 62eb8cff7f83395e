import { Effect } from "effect"

/** What the reply loop of a channel is called for: chats whose next reply is due, or whatever there may be in any. */
export class ReplyCalls {
  readonly #bell = Effect.unsafeMakeLatch()
  #chats = new Set<string>()
  #isForAll = false

  readonly anything: Effect.Effect<unknown> = Effect.suspend(() => {
    this.#isForAll = true
    return this.#bell.open
  })

  chat(id: string): Effect.Effect<unknown> {
    return Effect.suspend(() => {
      this.#chats.add(id)
      return this.#bell.open
    })
  }

  /** Waits for a call. */
  readonly heard: Effect.Effect<void> = this.#bell.await

  /** What it was called for since the last time. */
  take(): { readonly chats: ReadonlySet<string>; readonly isForAll: boolean } {
    const taken = { chats: this.#chats, isForAll: this.#isForAll }
    this.#chats = new Set()
    this.#isForAll = false
    this.#bell.unsafeClose()
    return taken
  }
}
