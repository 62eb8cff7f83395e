/**
 * How many attempts may be under way at one time. Who finds none left is called as soon as there is one, in the order of
 * asking, and takes it then: nobody is called twice while others wait.
 */
export class Permits {
  readonly #asking = new Set<() => void>()
  #free: number
  #isCalling = false

  constructor(count: number) {
    this.#free = count
  }

  /** False when none is left: `again` is called when it is worth asking again. */
  take(again: () => void): boolean {
    if (this.#free === 0) this.#asking.add(again)
    else this.#free -= 1
    return !this.#asking.has(again)
  }

  give() {
    this.#free += 1
    if (this.#isCalling) return
    this.#isCalling = true
    for (const again of this.#asking) {
      if (this.#free === 0) break
      this.#asking.delete(again)
      again()
    }
    this.#isCalling = false
  }

  /** Is not called any more. */
  forget(again: () => void) {
    this.#asking.delete(again)
  }
}
