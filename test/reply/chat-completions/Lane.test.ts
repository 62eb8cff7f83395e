import { it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Array, Effect, FastCheck, Fiber, TestClock } from "effect"
import { Lane } from "../../../src/reply/chat-completions/Lane.ts"

const callers = FastCheck.array(FastCheck.record({ goesAway: FastCheck.boolean(), turns: FastCheck.nat(5) }), {
  minLength: 1,
  maxLength: 30
})

const turns = (count: number) => Effect.repeatN(Effect.yieldNow(), count)

it.effect.prop("serves no more than it may at once, and all who stay", [callers], ([all]) =>
  Effect.gen(function* () {
    const lane = new Lane(3)
    let [underWay, most, served] = [0, 0, 0]
    const call = (count: number) =>
      lane.through(
        Effect.acquireUseRelease(
          Effect.sync(() => (most = Math.max(most, ++underWay))),
          () => turns(count),
          () => Effect.sync(() => underWay--)
        ),
        "1 minute"
      )
    const fibers = yield* Effect.forEach(all, (caller) =>
      Effect.map(Effect.fork(Effect.tap(call(caller.turns), () => Effect.sync(() => served++))), (fiber) => ({
        ...caller,
        fiber
      }))
    )
    const [staying, leaving] = Array.partition(fibers, ({ goesAway }) => goesAway)
    yield* Effect.forEach(leaving, ({ fiber, turns: count }) => Effect.zipRight(turns(count), Fiber.interrupt(fiber)))
    yield* Effect.forEach(staying, ({ fiber }) => Fiber.join(fiber))
    yield* Effect.forEach(Array.range(1, 3), () => call(1))
    deepStrictEqual([underWay, most <= 3, served >= staying.length], [0, true, true])
  })
)

it.effect("keeps nobody waiting longer than he will, and gives his turn to the next", () =>
  Effect.gen(function* () {
    const lane = new Lane(1)
    const first = yield* Effect.fork(lane.through(Effect.sleep("1 minute"), "2 minutes"))
    const hasty = yield* Effect.fork(lane.through(Effect.succeed("served"), "10 seconds"))
    const patient = yield* Effect.fork(lane.through(Effect.succeed("served"), "2 minutes"))
    yield* TestClock.adjust("10 seconds")
    deepStrictEqual(yield* Effect.flip(Fiber.join(hasty)), "too late")
    yield* TestClock.adjust("50 seconds")
    deepStrictEqual(yield* Fiber.join(patient), "served")
    yield* Fiber.join(first)
  })
)

const waiters = FastCheck.array(
  FastCheck.record({
    patience: FastCheck.nat(2),
    goesAwayAfter: FastCheck.nat(2),
    lasts: FastCheck.integer({ min: 1, max: 2 })
  }),
  { minLength: 1, maxLength: 20 }
)

it.effect.prop(
  "loses no permit to who runs out of patience or goes away when his turn comes",
  [waiters],
  ([all]) =>
    Effect.gen(function* () {
      const lane = new Lane(2)
      const fibers = yield* Effect.forEach(all, ({ goesAwayAfter, lasts, patience }) =>
        Effect.gen(function* () {
          const fiber = yield* Effect.fork(Effect.either(lane.through(Effect.sleep(lasts), patience)))
          yield* Effect.fork(Effect.delay(Fiber.interrupt(fiber), goesAwayAfter))
          return fiber
        })
      )
      yield* Effect.repeatN(TestClock.adjust(1), 3)
      yield* Effect.forEach(fibers, Fiber.await)
      let underWay = 0
      const call = Effect.zipRight(
        Effect.sync(() => underWay++),
        Effect.sleep(1)
      )
      const both = yield* Effect.forEach([1, 2], () => Effect.fork(lane.through(call, 5)))
      yield* turns(20)
      deepStrictEqual(underWay, 2)
      yield* TestClock.adjust(1)
      yield* Effect.forEach(both, Fiber.join)
    }),
  { fastCheck: { numRuns: 50 } }
)
