import { assert, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect, TestClock } from "effect"
import { shortMemory } from "../../../src/platform/platform-a/ShortMemory.ts"

it.effect("what is set is there for its time, and longer when it is set again", () =>
  Effect.gen(function* () {
    const memory = shortMemory(yield* Effect.clock, 60)
    memory.set("one", 1)
    memory.set("two", 2)
    memory.del("two")
    yield* TestClock.adjust("59 seconds")
    deepStrictEqual([memory.get("one"), memory.get("two")], [1, undefined])
    memory.set("one", 3)
    yield* TestClock.adjust("59 seconds")
    assert.strictEqual(memory.get("one"), 3)
    yield* TestClock.adjust("1 second")
    assert.strictEqual(memory.get("one"), undefined)
  })
)

it.effect("the oldest is forgotten for what is new", () =>
  Effect.gen(function* () {
    const memory = shortMemory(yield* Effect.clock, 60)
    for (let nth = 0; nth < 1_001; nth += 1) memory.set(`${nth}`, nth)
    deepStrictEqual([memory.get("0"), memory.get("1"), memory.get("1000")], [undefined, 1, 1000])
  })
)
