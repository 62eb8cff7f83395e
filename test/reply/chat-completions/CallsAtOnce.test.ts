import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Array, Duration, Effect, Exit, Fiber, Schedule } from "effect"
import type { ServerResponse } from "node:http"
import * as ChatCompletions from "../../../src/reply/chat-completions/ChatCompletions.ts"
import { ChatModel } from "../../../src/reply/ChatModel.ts"
import { chatRequest, faultyProvider } from "../../support/ChatProvider.ts"

const callsAtOnce = 64
const allCalls = 200

/** A provider that answers when it is told to, and counts what it was asked and has not answered. */
const patientProvider = Effect.gen(function* () {
  const open = new Set<ServerResponse>()
  const count = { asked: 0, most: 0, gone: 0 }
  const url = yield* faultyProvider((request, response) => {
    open.add(response)
    count.asked += 1
    count.most = Math.max(count.most, open.size)
    response.once("close", () => (count.gone += open.delete(response) ? 1 : 0))
    request.resume()
  })
  const until = (isSo: () => boolean) =>
    Effect.sync(isSo).pipe(
      Effect.repeat(Schedule.spaced("5 millis").pipe(Schedule.untilInput((is: boolean) => is))),
      Effect.timeoutFail({ duration: "10 seconds", onTimeout: () => `${open.size} are under way, ${count.gone} gone` }),
      Effect.orDie
    )
  const holds = (calls: number) => until(() => open.size === calls)
  const gone = until(() => count.gone === callsAtOnce)
  const answer = (calls: number) =>
    Effect.sync(() => {
      for (const response of [...open].slice(0, calls)) {
        open.delete(response)
        response.end('{"choices":[{"message":{"content":"Yes."}}]}')
      }
    })
  return { url, count, holds, gone, answer }
})

const askMany = (url: string, calls: number, timeout: Duration.DurationInput = "1 minute") =>
  Effect.gen(function* () {
    const { complete } = yield* ChatModel
    return yield* Effect.forEach(Array.range(1, calls), () =>
      Effect.fork(Effect.exit(complete(chatRequest(url, { timeout: Duration.decode(timeout) }))))
    )
  })

const succeeded = Effect.fn(function* (calls: ReadonlyArray<Fiber.Fiber<Exit.Exit<unknown, unknown>>>) {
  const exits = yield* Fiber.join(Fiber.all(calls))
  return exits.filter(Exit.isSuccess).length
})

/** Long enough for a call too many to arrive. */
const breath = Effect.sleep("100 millis")

layer(ChatCompletions.layer({ callsAtOnce }), { excludeTestServices: true })("calls of a provider", (it) => {
  it.scoped("are as many at once as may be, and not one more", () =>
    Effect.gen(function* () {
      const provider = yield* patientProvider
      const calls = yield* askMany(provider.url, allCalls)
      yield* provider.holds(callsAtOnce)
      yield* breath
      yield* provider.answer(1)
      yield* provider.holds(callsAtOnce)
      let left = allCalls - 1
      while (left > 0) {
        yield* provider.holds(Math.min(callsAtOnce, left))
        yield* breath
        yield* provider.answer(callsAtOnce)
        left -= Math.min(callsAtOnce, left)
      }
      assert.strictEqual(yield* succeeded(calls), allCalls)
      deepStrictEqual(provider.count, { asked: allCalls, most: callsAtOnce, gone: 0 })
    })
  )

  it.scoped("leave those of another alone, and one that hangs harms its own only", () =>
    Effect.gen(function* () {
      const [hanging, other] = [yield* patientProvider, yield* patientProvider]
      const stuck = yield* askMany(hanging.url, callsAtOnce + 10, "2 seconds")
      yield* hanging.holds(callsAtOnce)
      const calls = yield* askMany(other.url, callsAtOnce + 10)
      yield* other.holds(callsAtOnce)
      yield* other.answer(callsAtOnce)
      yield* other.holds(10)
      yield* other.answer(10)
      assert.strictEqual(yield* succeeded(calls), callsAtOnce + 10)
      assert.strictEqual(other.count.most, callsAtOnce)
      assert.strictEqual(yield* succeeded(stuck), 0, "each gives up after its own time")
      const again = yield* askMany(hanging.url, callsAtOnce)
      yield* hanging.holds(callsAtOnce)
      yield* hanging.answer(callsAtOnce)
      assert.strictEqual(yield* succeeded(again), callsAtOnce, "whoever gave up left its place")
    })
  )

  it.scoped("that nobody waits for any more leave their place to others", () =>
    Effect.gen(function* () {
      const provider = yield* patientProvider
      const abandoned = yield* askMany(provider.url, callsAtOnce)
      yield* provider.holds(callsAtOnce)
      const calls = yield* askMany(provider.url, callsAtOnce)
      yield* Fiber.interruptAll(abandoned)
      yield* provider.gone
      yield* provider.holds(callsAtOnce)
      yield* provider.answer(callsAtOnce)
      assert.strictEqual(yield* succeeded(calls), callsAtOnce)
    })
  )
})
