interface Entry<A> {
  readonly at: number
  readonly value: A
}

/** Values that each wait for a moment, the soonest on top: adding one and taking one cost the logarithm of their number. */
export class DueHeap<A> {
  readonly #entries: Array<Entry<A>> = []

  get size(): number {
    return this.#entries.length
  }

  /** The soonest moment; `Infinity` when nothing waits. */
  get next(): number {
    return this.#at(0)
  }

  add(at: number, value: A): void {
    const entry = { at, value }
    let place = this.#entries.push(entry) - 1
    while (place > 0) {
      const above = (place - 1) >> 1
      const parent = this.#entries[above]
      if (parent === undefined || parent.at <= at) break
      this.#entries[place] = parent
      place = above
    }
    this.#entries[place] = entry
  }

  /** The value whose moment is the soonest, when that is no later than `now`. */
  take(now: number): A | undefined {
    const top = this.#entries[0]
    if (top === undefined || top.at > now) return undefined
    const last = this.#entries.pop()
    if (last !== undefined && last !== top) this.#sink(last)
    return top.value
  }

  #at(place: number): number {
    return this.#entries[place]?.at ?? Infinity
  }

  /** Puts an entry on top, and down below those that are sooner. */
  #sink(entry: Entry<A>): void {
    let place = 0
    for (;;) {
      const left = 2 * place + 1
      const below = this.#at(left + 1) < this.#at(left) ? left + 1 : left
      const child = this.#entries[below]
      if (child === undefined || child.at >= entry.at) break
      this.#entries[place] = child
      place = below
    }
    this.#entries[place] = entry
  }
}
