import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect, FastCheck, Fiber, Option, TestClock } from "effect"
import { ReplyCalls } from "../../../src/channel/actor/ReplyCalls.ts"

/** Whether somebody who listens would go on at once. */
const isHeard = Effect.fn(function* (calls: ReplyCalls) {
  const listener = yield* Effect.fork(calls.heard)
  yield* TestClock.adjust("1 millis")
  const isOver = Option.isSome(yield* Fiber.poll(listener))
  yield* Fiber.interrupt(listener)
  return isOver
})

const taken = (calls: ReplyCalls) => {
  const { chats, isForAll } = calls.take()
  return { chats: [...chats], isForAll }
}

const nothing = { chats: [], isForAll: false }

describe("what a reply loop is called for", () => {
  it.effect("is heard when it comes between the taking and the listening, and taken once", () =>
    Effect.gen(function* () {
      const calls = new ReplyCalls()
      deepStrictEqual(taken(calls), nothing)
      yield* calls.chat("a")
      yield* calls.chat("b")
      yield* calls.chat("a")
      assert.isTrue(yield* isHeard(calls))
      assert.isTrue(yield* isHeard(calls), "until it is taken")
      deepStrictEqual(taken(calls), { chats: ["a", "b"], isForAll: false })
      assert.isFalse(yield* isHeard(calls))
      yield* calls.anything
      yield* calls.chat("c")
      assert.isTrue(yield* isHeard(calls))
      deepStrictEqual(taken(calls), { chats: ["c"], isForAll: true })
      deepStrictEqual(taken(calls), nothing)
    })
  )

  it.effect("leaves alone what was taken before", () =>
    Effect.gen(function* () {
      const calls = new ReplyCalls()
      yield* calls.chat("a")
      const { chats } = calls.take()
      yield* calls.chat("b")
      deepStrictEqual([...chats], ["a"])
      deepStrictEqual(taken(calls), { chats: ["b"], isForAll: false })
    })
  )

  it.effect("wakes who listens already, every one of them", () =>
    Effect.gen(function* () {
      const calls = new ReplyCalls()
      const listeners = yield* Effect.forEach([1, 2], () => Effect.fork(calls.heard))
      yield* Effect.yieldNow()
      yield* calls.chat("a")
      yield* Effect.forEach(listeners, Fiber.join)
      deepStrictEqual(taken(calls), { chats: ["a"], isForAll: false })
    })
  )

  const step = FastCheck.oneof(
    FastCheck.constantFrom("a", "b", "c").map((chat) => ({ do: "chat" as const, chat })),
    FastCheck.constantFrom({ do: "anything" as const }, { do: "rest" as const })
  )

  it.effect.prop("is never lost to a loop that takes, works and listens", [FastCheck.array(step)], ([steps]) =>
    Effect.gen(function* () {
      const calls = new ReplyCalls()
      const called = new Set<string>()
      const got = new Set<string>()
      let turns = 0
      const loop = yield* Effect.gen(function* () {
        yield* Effect.yieldNow()
        const { chats, isForAll } = calls.take()
        chats.forEach((chat) => got.add(chat))
        if (isForAll) got.add("everything")
        turns += 1
        yield* Effect.yieldNow()
        yield* calls.heard
      }).pipe(Effect.forever, Effect.fork)
      for (const one of steps) {
        if (one.do === "chat") called.add(one.chat)
        if (one.do === "anything") called.add("everything")
        if (one.do === "chat") yield* calls.chat(one.chat)
        else if (one.do === "rest") yield* Effect.yieldNow()
        else yield* calls.anything
      }
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(loop)
      deepStrictEqual([...got].toSorted(), [...called].toSorted())
      assert.isAtMost(turns, steps.length + 1, "it does not turn without a call")
    })
  )
})
