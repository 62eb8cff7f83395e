import { it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Array, Deferred, Duration, Effect, Either, FastCheck, TestClock } from "effect"
import { together } from "../../src/kit/Together.ts"

const numbers = FastCheck.array(FastCheck.integer({ min: 0, max: 99 }), { minLength: 1, maxLength: 40 })

it.scoped.prop(
  "each gets the answer to its own question",
  [numbers],
  ([asked]) =>
    Effect.gen(function* () {
      const double = yield* together(7, (all: ReadonlyArray<number>) => Effect.succeed(all.map((one) => 2 * one)))
      const answers = yield* Effect.forEach(asked, double, { concurrency: "unbounded" })
      deepStrictEqual(
        answers,
        asked.map((one) => 2 * one)
      )
    }),
  { fastCheck: { numRuns: 20 } }
)

it.scoped.prop(
  "what is wrong with one is not the trouble of those beside it",
  [numbers],
  ([asked]) =>
    Effect.gen(function* () {
      const even = yield* together(100, (all: ReadonlyArray<number>) =>
        all.every((one) => one % 2 === 0) ? Effect.succeed(all) : Effect.fail("odd" as const)
      )
      const answers = yield* Effect.forEach(asked, (one) => Effect.either(even(one)), { concurrency: "unbounded" })
      deepStrictEqual(
        answers,
        asked.map((one) => (one % 2 === 0 ? Either.right(one) : Either.left("odd" as const)))
      )
    }),
  { fastCheck: { numRuns: 20 } }
)

it.scoped("who asks while a turn is under way goes with the next one", () =>
  Effect.gen(function* () {
    const gate = yield* Deferred.make<void>()
    const turns: Array<number> = []
    const ask = yield* together(50, (all: ReadonlyArray<number>) => {
      turns.push(all.length)
      return Effect.as(Deferred.await(gate), all)
    })
    const first = yield* Effect.fork(ask(0))
    yield* Effect.repeatN(Effect.yieldNow(), 10)
    const others = yield* Effect.fork(Effect.forEach(Array.range(1, 60), ask, { concurrency: "unbounded" }))
    yield* Effect.repeatN(Effect.yieldNow(), 100)
    yield* Deferred.succeed(gate, undefined)
    yield* first.await
    yield* others.await
    deepStrictEqual(turns, [1, 50, 10])
  })
)

it.scoped("a turn after one for several gathers more of them, and who comes alone is not kept waiting", () =>
  Effect.gen(function* () {
    const turns: Array<number> = []
    const count = (all: ReadonlyArray<number>) => Effect.sync(() => (turns.push(all.length), all))
    const ask = yield* together(50, count, Duration.millis(20))
    const askAll = (...all: ReadonlyArray<number>) =>
      Effect.fork(Effect.forEach(all, ask, { concurrency: "unbounded" }))
    yield* ask(1)
    yield* askAll(2, 3, 4)
    yield* TestClock.adjust("1 millis")
    yield* askAll(5)
    yield* TestClock.adjust("10 millis")
    const last = yield* askAll(6)
    yield* TestClock.adjust("10 millis")
    yield* last.await
    const late = yield* askAll(7)
    yield* TestClock.adjust("20 millis")
    yield* late.await
    yield* ask(8)
    deepStrictEqual(turns, [1, 3, 2, 1, 1])
  })
)

it.scoped("as many as in the turn before are not kept waiting either", () =>
  Effect.gen(function* () {
    const turns: Array<number> = []
    const count = (all: ReadonlyArray<number>) => Effect.sync(() => (turns.push(all.length), all))
    const ask = yield* together(50, count, Duration.millis(20))
    const askAll = (count: number) => Effect.forEach(Array.range(1, count), ask, { concurrency: "unbounded" })
    yield* askAll(3)
    yield* askAll(3)
    yield* askAll(5)
    const fewer = yield* Effect.fork(askAll(4))
    yield* TestClock.adjust("19 millis")
    deepStrictEqual(turns, [3, 3, 5])
    yield* TestClock.adjust("1 millis")
    yield* fewer.await
    deepStrictEqual(turns, [3, 3, 5, 4])
  })
)
