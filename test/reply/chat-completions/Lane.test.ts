import { it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Array, Effect, FastCheck, Fiber } from "effect"
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
        )
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
