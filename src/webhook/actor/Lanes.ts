import { Deferred, Effect, Either, FiberId } from "effect"
import type { DueDelivery } from "../domain/Delivery.ts"
import type { Permits } from "../Permits.ts"

export interface LanesOptions {
  /** Attempts of this endpoint under way at one time. */
  readonly width: number
  readonly permits: Permits
  /** Starts an attempt; `isOver` is called once when it has ended. */
  readonly begin: (delivery: DueDelivery, isOver: () => void) => void
}

/**
 * The attempts of one endpoint: the end of one begins the next. This is the one place of the engine where callbacks stand
 * for fibers, because every delivery passes it: a fiber for each attempt, with its permit and its finalizer, added a quarter
 * to the processor time of the request. A defect ends `crashed`, and so the loop, as it would in a fiber.
 */
class Lanes {
  readonly crashed = Deferred.unsafeMake<never>(FiberId.none)
  readonly #options: LanesOptions
  readonly #waiting: Array<DueDelivery> = []
  readonly #emptied = Deferred.unsafeMake<void>(FiberId.none)
  #underWay = 0
  #isFilling = false
  #isOpen = true

  constructor(options: LanesOptions) {
    this.#options = options
  }

  readonly push = (deliveries: ReadonlyArray<DueDelivery>) => {
    this.#waiting.push(...deliveries)
    this.#fill()
  }

  /** How many wait to begin. */
  get waiting() {
    return this.#waiting.length
  }

  /** Takes back what has not begun. */
  readonly clear = (): ReadonlyArray<DueDelivery> => this.#waiting.splice(0)

  /** Begins nothing more and waits for what is under way. */
  readonly finish = Effect.suspend(() => {
    this.#isOpen = false
    this.#options.permits.forget(this.#fill)
    return this.#underWay === 0 ? Effect.void : Deferred.await(this.#emptied)
  })

  /** An attempt may be over before `begin` returns: the loop goes on then, instead of calling itself. */
  readonly #fill = () => {
    if (this.#isFilling) return
    this.#isFilling = true
    while (this.#hasMore() && this.#options.permits.take(this.#fill)) {
      const delivery = this.#waiting.shift()
      if (delivery !== undefined) this.#begin(delivery)
    }
    this.#isFilling = false
  }

  #hasMore() {
    return this.#isOpen && this.#waiting.length > 0 && this.#underWay < this.#options.width
  }

  #begin(delivery: DueDelivery) {
    this.#underWay += 1
    const begun = Either.try(() => this.#options.begin(delivery, this.#isOver))
    if (Either.isRight(begun)) return
    Deferred.unsafeDone(this.crashed, Effect.die(begun.left))
    this.#isOver()
  }

  readonly #isOver = () => {
    this.#underWay -= 1
    this.#options.permits.give()
    this.#fill()
    if (!this.#isOpen && this.#underWay === 0) Deferred.unsafeDone(this.#emptied, Effect.void)
  }
}

/** Lanes that are finished when the scope ends. */
export const make = (options: LanesOptions) =>
  Effect.acquireRelease(
    Effect.sync(() => new Lanes(options)),
    (lanes) => lanes.finish
  )
