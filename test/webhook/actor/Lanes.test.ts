import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Array, Deferred, Effect, Exit, Fiber, Scope } from "effect"
import * as Lanes from "../../../src/webhook/actor/Lanes.ts"
import type { DueDelivery } from "../../../src/webhook/domain/Delivery.ts"
import { Permits } from "../../../src/webhook/Permits.ts"
import { deliveryId } from "./MemoryQueue.ts"

const deliveries = (count: number) =>
  Array.makeBy(count, (nth): DueDelivery => {
    const id = deliveryId(nth)
    return { id, eventId: id, event: "message.received", attemptCount: 0, body: "{}" }
  })

/** Lanes whose attempts last until `end` is called: first in, first out. */
const hanging = (width: number, permits: Permits, log: globalThis.Array<string> = [], name = "") =>
  Effect.gen(function* () {
    const underWay: globalThis.Array<() => void> = []
    const lanes = yield* Lanes.make({
      width,
      permits,
      begin: (_, isOver) => {
        log.push(name)
        underWay.push(isOver)
      }
    })
    return { lanes, underWay, end: () => underWay.shift()?.() }
  })

describe("Lanes", () => {
  it.scoped("begins the next attempt when one is over, and never more than the width", () =>
    Effect.gen(function* () {
      const log: globalThis.Array<string> = []
      const { end, lanes, underWay } = yield* hanging(2, new Permits(10), log)
      lanes.push(deliveries(5))
      deepStrictEqual([log.length, underWay.length], [2, 2])
      end()
      deepStrictEqual([log.length, underWay.length], [3, 2])
      Array.range(1, 4).forEach(end)
      deepStrictEqual([log.length, underWay.length], [5, 0])
    })
  )

  it.scoped("gives permits in the order of asking", () =>
    Effect.gen(function* () {
      const permits = new Permits(2)
      const log: globalThis.Array<string> = []
      const [a, b, c] = [
        yield* hanging(2, permits, log, "a"),
        yield* hanging(2, permits, log, "b"),
        yield* hanging(2, permits, log, "c")
      ]
      ;[a, b, c].forEach(({ lanes }) => lanes.push(deliveries(2)))
      ;[a, a, b, c, b, c].forEach(({ end }) => end())
      deepStrictEqual(log, ["a", "a", "b", "c", "b", "c"])
      b.lanes.push(deliveries(1))
      deepStrictEqual(log.at(-1), "b")
      ;[a, b, c].forEach(({ underWay }) => underWay.splice(0).forEach((isOver) => isOver()))
    })
  )

  it.scoped("goes on when attempts are over at once, however many there are", () =>
    Effect.gen(function* () {
      let count = 0
      const permits = new Permits(1)
      const begin = (_: DueDelivery, isOver: () => void) => {
        count += 1
        isOver()
      }
      const lanes = yield* Lanes.make({ width: 1, permits, begin })
      lanes.push(deliveries(20_000))
      assert.strictEqual(count, 20_000)
    })
  )

  it.scoped("is closed when the last attempt is over, and begins no other", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const log: globalThis.Array<string> = []
      const { end, lanes } = yield* Scope.extend(hanging(2, new Permits(10), log), scope)
      lanes.push(deliveries(5))
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* Effect.yieldNow()
      end()
      assert.isTrue((yield* Fiber.poll(closing))._tag === "None")
      end()
      yield* Fiber.join(closing)
      assert.strictEqual(log.length, 2)
    })
  )

  it.scoped("ends with the defect of an attempt that could not begin, and returns its permit", () =>
    Effect.gen(function* () {
      const permits = new Permits(1)
      const begin = () => assert.fail("no such thing")
      const lanes = yield* Lanes.make({ width: 1, permits, begin })
      lanes.push(deliveries(1))
      const exit = yield* Effect.exit(Deferred.await(lanes.crashed))
      assert.isTrue(Exit.isFailure(exit))
      assert.isTrue(permits.take(() => undefined))
    })
  )
})
