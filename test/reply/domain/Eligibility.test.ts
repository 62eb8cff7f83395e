import { assert, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Array, DateTime, FastCheck, Option } from "effect"
import { emptyLayer, inheriting, resolve } from "../../../src/reply/domain/AiSettings.ts"
import {
  burstEnd,
  type ChatSituation,
  type MessageSituation,
  plan,
  skipReason
} from "../../../src/reply/domain/Eligibility.ts"

const arrivedAt = DateTime.unsafeMake("2026-03-01T12:00:00Z")
const keyed = { layer: emptyLayer, hasApiKey: false }
const settings = resolve({
  chat: inheriting,
  account: keyed,
  global: { layer: { ...emptyLayer, enabled: true }, hasApiKey: true },
  environment: keyed
})

interface Asked extends ChatSituation, MessageSituation {}

const answered: Asked = {
  settings,
  chatType: "private",
  isBlocked: false,
  humanWroteAt: Option.none(),
  repliesInLastHour: 0,
  now: arrivedAt,
  type: "text",
  writtenAt: DateTime.subtract(arrivedAt, { seconds: 20 }),
  arrivedAt
}

const reasonOf = (asked: Asked) => skipReason(asked, asked)

const takeover = { ...settings, humanTakeoverMinutes: { value: 30, layer: "account" as const } }
const keyless = { ...settings, hasApiKey: { value: false, layer: "default" as const } }
const minutesAgo = (minutes: number) => Option.some(DateTime.subtract(arrivedAt, { minutes }))

const obstacles: ReadonlyArray<readonly [string, Partial<Asked>]> = [
  ["global disabled", { settings: { ...settings, enabled: { ...settings.enabled, global: false } } }],
  ["account disabled", { settings: { ...settings, enabled: { ...settings.enabled, account: false } } }],
  ["chat disabled", { settings: { ...settings, enabled: { ...settings.enabled, chat: false } } }],
  ["chat blocked", { isBlocked: true }],
  ["chat type disabled", { chatType: "group" }],
  ["not a text message", { type: "image" }],
  ["message too old", { writtenAt: DateTime.subtract(arrivedAt, { minutes: 10, seconds: 1 }) }],
  ["human takeover", { settings: takeover, humanWroteAt: minutesAgo(29) }],
  ["loop protection", { repliesInLastHour: 20 }],
  ["no API key configured", { settings: keyless }]
]

it("answers a text of a private chat when all switches say yes", () => {
  deepStrictEqual(reasonOf(answered), Option.none())
})

it.each(obstacles)("names the obstacle: %s", (reason, obstacle) => {
  deepStrictEqual(reasonOf({ ...answered, ...obstacle }), Option.some(reason))
})

it.prop("no obstacle hides behind another", [FastCheck.subarray([...obstacles], { minLength: 1 })], ([chosen]) => {
  const situation = chosen.reduce<Asked>((all, [, obstacle]) => ({ ...all, ...obstacle }), answered)
  assert.isTrue(Option.exists(reasonOf(situation), (reason) => chosen.some(([name]) => name === reason)))
})

it("hears a person for as long as the setting says", () => {
  deepStrictEqual(reasonOf({ ...answered, settings: takeover, humanWroteAt: minutesAgo(30) }), Option.none())
  deepStrictEqual(reasonOf({ ...answered, humanWroteAt: minutesAgo(0) }), Option.none())
})

it("needs no key to echo, but every other rule holds", () => {
  const echoing = { ...answered, settings: { ...keyless, echoMode: { value: true, layer: "global" as const } } }
  deepStrictEqual(reasonOf(echoing), Option.none())
  deepStrictEqual(reasonOf({ ...echoing, repliesInLastHour: 20 }), Option.some("loop protection"))
})

it.prop(
  "a message that the platform dates into the future is not late",
  [FastCheck.integer({ min: 0, max: 86_400 })],
  ([seconds]) => {
    const situation = { ...answered, writtenAt: DateTime.add(arrivedAt, { seconds }) }
    deepStrictEqual(reasonOf(situation), Option.none())
  }
)

const burst = FastCheck.array(
  FastCheck.record({
    seconds: FastCheck.integer({ min: 0, max: 200 }),
    type: FastCheck.constantFrom("text" as const, "image" as const)
  }),
  { minLength: 1, maxLength: 8 }
).map((rows) =>
  rows
    .toSorted((one, other) => one.seconds - other.seconds)
    .map(({ seconds, type }, index) => {
      const at = DateTime.subtract(arrivedAt, { seconds: 200 - seconds })
      return { index, type, writtenAt: at, arrivedAt: at }
    })
)
const seconds = FastCheck.integer({ min: 0, max: 60 })

it.prop("every message is answered or skipped, in order, whatever the burst", [burst, seconds], ([rows, debounce]) => {
  const chat = {
    ...answered,
    settings: { ...settings, debounceSeconds: { value: debounce, layer: "account" as const } }
  }
  let left = rows
  let now = arrivedAt
  const order: Array<number> = []
  const answers: Array<number> = []
  while (Array.isNonEmptyArray(left)) {
    const { answer, skipped, waitUntil } = plan({ ...chat, now }, left)
    if (Option.isSome(waitUntil)) {
      assert.isTrue(DateTime.greaterThan(waitUntil.value, now))
      assert.isTrue(DateTime.lessThanOrEqualTo(waitUntil.value, DateTime.add(left[0].arrivedAt, { minutes: 1 })))
      now = waitUntil.value
      continue
    }
    skipped.forEach(({ message, reason }) => {
      assert.strictEqual(reason, message.type === "image" ? "not a text message" : "superseded")
      if (reason === "superseded") assert.isAbove(debounce, 0)
    })
    const handled = [
      ...skipped.map(({ message }) => message.index),
      ...Option.toArray(answer).map(({ index }) => index)
    ]
    assert.isAbove(handled.length, 0)
    order.push(...handled)
    answers.push(...Option.toArray(answer).map(({ index }) => index))
    left = left.slice(handled.length)
  }
  deepStrictEqual(
    order,
    rows.map(({ index }) => index)
  )
  const texts = rows.filter(({ type }) => type === "text").map(({ index }) => index)
  if (debounce === 0) deepStrictEqual(answers, texts)
  else deepStrictEqual(answers, texts.slice(-1))
})

it("waits for quiet, but not for ever", () => {
  const at = (offset: number) => ({
    type: "text" as const,
    writtenAt: arrivedAt,
    arrivedAt: DateTime.add(arrivedAt, { seconds: offset })
  })
  deepStrictEqual(burstEnd(5, [at(0), at(3)]), DateTime.add(arrivedAt, { seconds: 8 }))
  deepStrictEqual(burstEnd(5, [at(0), at(58)]), DateTime.add(arrivedAt, { seconds: 60 }))
})
