import { it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Data, Deferred, Effect, Exit, Fiber, Ref } from "effect"
import { makeSingleFlight } from "../../src/kit/SingleFlight.ts"

const counted = Effect.gen(function* () {
  const runs = yield* Ref.make(0)
  const gate = yield* Deferred.make<number>()
  const flight = yield* makeSingleFlight<unknown, number, "down">()
  const work = Effect.zipRight(
    Ref.update(runs, (n) => n + 1),
    Deferred.await(gate)
  )
  return { runs, gate, flight, work }
})

const key = (id: string) => Data.struct({ id })

it.scoped("work under one key runs once for all who wait, and anew afterwards", () =>
  Effect.gen(function* () {
    const { flight, gate, runs, work } = yield* counted
    const waiting = yield* Effect.forEach([1, 2, 3], () => Effect.fork(flight(key("a"), work)))
    const other = yield* Effect.fork(flight(key("b"), work))
    yield* Effect.yieldNow()
    yield* Deferred.succeed(gate, 7)
    deepStrictEqual(yield* Fiber.join(Fiber.all(waiting)), [7, 7, 7])
    strictEqual(yield* Fiber.join(other), 7)
    strictEqual(yield* Ref.get(runs), 2)
    yield* flight(key("a"), work)
    strictEqual(yield* Ref.get(runs), 3)
  })
)

it.scoped("one who goes away takes the answer from nobody", () =>
  Effect.gen(function* () {
    const { flight, gate, runs, work } = yield* counted
    const first = yield* Effect.fork(flight(key("a"), work))
    yield* Effect.yieldNow()
    const second = yield* Effect.fork(flight(key("a"), work))
    yield* Effect.yieldNow()
    yield* Fiber.interrupt(first)
    yield* Deferred.succeed(gate, 7)
    strictEqual(yield* Fiber.join(second), 7)
    strictEqual(yield* Ref.get(runs), 1)
  })
)

it.scoped("a failure is told to those who waited, and kept for nobody", () =>
  Effect.gen(function* () {
    const { flight, gate, work } = yield* counted
    strictEqual(yield* Effect.flip(flight(key("a"), Effect.fail("down"))), "down")
    yield* Deferred.succeed(gate, 7)
    deepStrictEqual(yield* Effect.exit(flight(key("a"), work)), Exit.succeed(7))
  })
)
