import { assert, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { DateTime, FastCheck, Option } from "effect"
import { emptyLayer, resolve } from "../../../src/reply/domain/AiSettings.ts"
import { type Situation, skipReason } from "../../../src/reply/domain/Eligibility.ts"

const arrivedAt = DateTime.unsafeMake("2026-03-01T12:00:00Z")
const settings = resolve({
  chat: { mode: "inherit", customSystemPrompt: Option.none() },
  account: emptyLayer,
  global: { ...emptyLayer, enabled: true },
  environment: emptyLayer
})

const answered: Situation = {
  settings,
  hasApiKey: true,
  chatType: "private",
  isBlocked: false,
  messageType: "text",
  writtenAt: DateTime.subtract(arrivedAt, { seconds: 20 }),
  arrivedAt,
  repliesInLastHour: 0
}

const obstacles: ReadonlyArray<readonly [string, Partial<Situation>]> = [
  ["global disabled", { settings: { ...settings, globalEnabled: false } }],
  ["account disabled", { settings: { ...settings, accountEnabled: false } }],
  ["chat disabled", { settings: { ...settings, chatEnabled: false } }],
  ["chat blocked", { isBlocked: true }],
  ["chat type disabled", { chatType: "group" }],
  ["not a text message", { messageType: "image" }],
  ["message too old", { writtenAt: DateTime.subtract(arrivedAt, { minutes: 10, seconds: 1 }) }],
  ["loop protection", { repliesInLastHour: 20 }],
  ["no API key configured", { hasApiKey: false }]
]

it("answers a text of a private chat when all switches say yes", () => {
  deepStrictEqual(skipReason(answered), Option.none())
})

it.each(obstacles)("names the obstacle: %s", (reason, obstacle) => {
  deepStrictEqual(skipReason({ ...answered, ...obstacle }), Option.some(reason))
})

it.prop("no obstacle hides behind another", [FastCheck.subarray([...obstacles], { minLength: 1 })], ([chosen]) => {
  const situation = chosen
    .filter(([reason]) => !reason.endsWith("disabled") || reason === "chat type disabled")
    .reduce<Situation>((all, [, obstacle]) => ({ ...all, ...obstacle }), answered)
  assert.strictEqual(Option.isNone(skipReason(situation)), situation === answered)
})

it("needs no key to echo, but every other rule holds", () => {
  const echoing = { ...answered, hasApiKey: false, settings: { ...settings, echoMode: true } }
  deepStrictEqual(skipReason(echoing), Option.none())
  deepStrictEqual(skipReason({ ...echoing, repliesInLastHour: 20 }), Option.some("loop protection"))
})

it.prop(
  "a message that the platform dates into the future is not late",
  [FastCheck.integer({ min: 0, max: 86_400 })],
  ([seconds]) => {
    const situation = { ...answered, writtenAt: DateTime.add(arrivedAt, { seconds }) }
    deepStrictEqual(skipReason(situation), Option.none())
  }
)
