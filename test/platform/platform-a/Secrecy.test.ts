import { inspect } from "node:util"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { isUnspeakable, loadLibrary } from "../../../src/platform/platform-a/SilentLibrary.ts"
import { linked, makeSide, nextEvent } from "./LinkedPhone.ts"

const phone = "491700000001"
const ann = "491700000002"
const levels = ["log", "info", "warn", "error", "debug"] as const

/** Puts a listener around the console as it is. */
const listenTo = (heard: Array<string>) => {
  for (const level of levels) {
    const speak = console[level].bind(console)
    console[level] = (...args: ReadonlyArray<unknown>) => {
      heard.push(args.map((value) => (typeof value === "string" ? value : inspect(value, { depth: 9 }))).join(" "))
      speak(...args)
    }
  }
}

it.live(
  "no key reaches the console, although the signal library says them when a session is made anew",
  () =>
    Effect.scoped(
      Effect.flatMap(makeSide, (side) =>
        Effect.gen(function* () {
          const connection = yield* linked(side, "one", phone)
          const said: Array<string> = []
          listenTo(said)
          for (const text of ["first", "second", "third"]) {
            yield* side.control("POST", "/messages", { from: ann, account: phone, text })
            assert.strictEqual((yield* nextEvent(connection, "SeenMessage")).body, text)
            yield* connection.send({ to: ann, body: `answer to ${text}`, clientId: text })
            yield* side.control("POST", "/rekey", { phone })
          }
          assert.isTrue(said.some((line) => /^Closing session:[^]*(rootKey|privKey)/.test(line)))
          const passed = heardBehindTheGuard.join(" ")
          assert.notMatch(passed, /privKey|SessionEntry|rootKey|Closing session|answer to/)
        }).pipe(Effect.provide(side.driver))
      )
    ),
  240_000
)

const heardBehindTheGuard: Array<string> = []
listenTo(heardBehindTheGuard)

it.effect("other words pass", () =>
  Effect.gen(function* () {
    yield* loadLibrary
    console.info("a session was closed")
    assert.include(heardBehindTheGuard, "a session was closed")
  })
)

it("what the signal library prints is known by its words and by what it carries", () => {
  class SessionEntry {
    readonly rootKey = "secret"
  }
  assert.isTrue(isUnspeakable(["Closing session:", new SessionEntry()]))
  assert.isTrue(isUnspeakable(["anything", new SessionEntry()]))
  assert.isFalse(isUnspeakable(["a session was closed"]))
  assert.isFalse(isUnspeakable([{ rootKey: "x" }]))
})
