import { assert, it } from "@effect/vitest"
import { Option, Schema } from "effect"
import { ConnectionEnd } from "../../../src/platform/domain/PlatformEvent.ts"
import { endOf } from "../../../src/platform/platform-a/ClosePolicy.ts"

const isEnd = Schema.is(ConnectionEnd)

it.prop("every code has a meaning", [Schema.Int, Schema.Boolean], ([code, isLinked]) => {
  assert.isTrue(isEnd(endOf(Option.some(code), isLinked)))
})

it("codes that end the trying, and those that do not", () => {
  const meaning = (code: number, isLinked = true) => endOf(Option.some(code), isLinked)
  assert.strictEqual(meaning(401), "logged_out")
  assert.strictEqual(meaning(403), "banned")
  assert.strictEqual(meaning(405), "app_version_rejected")
  assert.strictEqual(meaning(440), "replaced")
  assert.strictEqual(meaning(515), "restart")
  assert.strictEqual(meaning(429), "slow_down")
  assert.strictEqual(meaning(408), "lost")
  assert.strictEqual(meaning(408, false), "qr_expired")
  assert.strictEqual(endOf(Option.none(), true), "stopped")
})

it.prop("nothing but 401 destroys a session", [Schema.Int, Schema.Boolean], ([code, isLinked]) => {
  assert.strictEqual(endOf(Option.some(code), isLinked) === "logged_out", code === 401)
})
