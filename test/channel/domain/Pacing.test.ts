import { assert, it } from "@effect/vitest"
import { DateTime, FastCheck, Option } from "effect"
import { defaultPacing, type Marks, opening, type Pacing, slotOf } from "../../../src/channel/domain/Pacing.ts"

interface Send {
  readonly at: number
  readonly opens: boolean
}

const nth = (sends: ReadonlyArray<Send>, back: number | null) =>
  Option.map(Option.fromNullable(back === null ? undefined : sends.at(-back)), ({ at }) => DateTime.unsafeMake(at))

const marksOf = (pacing: Pacing, sends: ReadonlyArray<Send>): Marks => ({
  latest: nth(sends, 1),
  perMinute: nth(sends, pacing.per_minute),
  perHour: nth(sends, pacing.per_hour),
  perDay: nth(sends, pacing.per_day),
  newChats: nth(
    sends.filter(({ opens }) => opens),
    pacing.new_chats_per_day
  )
})

const cap = FastCheck.option(FastCheck.integer({ min: 1, max: 6 }))
const pacings: FastCheck.Arbitrary<Pacing> = FastCheck.record({
  gap_seconds: FastCheck.tuple(FastCheck.integer({ min: 0, max: 20 }), FastCheck.integer({ min: 0, max: 40 })).map(
    ([least, more]) => [least, least + more] as const
  ),
  per_minute: cap,
  per_hour: cap,
  per_day: cap,
  new_chats_per_day: cap
})
const chance = FastCheck.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const wishes = FastCheck.array(
  FastCheck.record({ after: FastCheck.integer({ min: 0, max: 9_000_000 }), opens: FastCheck.boolean(), chance }),
  { maxLength: 60 }
)

/** Messages that come in one after the other, each sent as soon as it may. */
const sent = (pacing: Pacing, wanted: ReadonlyArray<{ after: number; opens: boolean; chance: number }>) => {
  const sends: Array<Send> = []
  let clock = Date.parse("2026-03-01T12:00:00Z")
  for (const { after, chance: drawn, opens } of wanted) {
    clock += after
    const bound = opening(slotOf(pacing, marksOf(pacing, sends), opens, drawn))
    clock = Math.max(clock, Option.match(bound, { onNone: () => clock, onSome: DateTime.toEpochMillis }))
    sends.push({ at: clock, opens })
  }
  return sends
}

const windows = [
  ["per_minute", 60_000],
  ["per_hour", 3_600_000],
  ["per_day", 86_400_000]
] as const

const most = (sends: ReadonlyArray<Send>, length: number) =>
  Math.max(0, ...sends.map(({ at }) => sends.filter((other) => other.at >= at && other.at < at + length).length))

it.prop("is never over a cap in any window", [pacings, wishes], ([pacing, wanted]) => {
  const sends = sent(pacing, wanted)
  for (const [name, length] of windows) assert.isAtMost(most(sends, length), pacing[name] ?? Infinity)
  const openings = sends.filter(({ opens }) => opens)
  assert.isAtMost(most(openings, 86_400_000), pacing.new_chats_per_day ?? Infinity)
})

it.prop("drops nothing and keeps the order", [pacings, wishes], ([pacing, wanted]) => {
  const sends = sent(pacing, wanted)
  assert.strictEqual(sends.length, wanted.length)
  sends.slice(1).forEach(({ at }, before) => {
    const [least] = pacing.gap_seconds
    assert.isAtLeast(at - (sends[before]?.at ?? 0), least * 1_000)
  })
})

it.prop("the gap lies in its range and is all there is without caps", [pacings, chance], ([{ gap_seconds }, at]) => {
  const pacing = { gap_seconds, per_minute: null, per_hour: null, per_day: null, new_chats_per_day: null }
  const [first, second] = sent(pacing, [
    { after: 0, opens: true, chance: at },
    { after: 0, opens: true, chance: at }
  ])
  const gap = ((second?.at ?? 0) - (first?.at ?? 0)) / 1_000
  assert.isAtLeast(gap, gap_seconds[0])
  assert.isAtMost(gap, gap_seconds[1] + 0.001)
})

it.prop("nothing is held for longer than a day after the sends that hold it", [pacings, wishes], ([pacing, wanted]) => {
  const sends = sent(pacing, wanted)
  const bound = opening(slotOf(pacing, marksOf(pacing, sends), true, 0.5))
  const last = sends.at(-1)?.at ?? 0
  assert.isAtMost(Option.match(bound, { onNone: () => last, onSome: DateTime.toEpochMillis }), last + 86_400_000)
})

it("has the contract's defaults", () => {
  const { gap_seconds, ...caps } = defaultPacing("platform_b")
  assert.deepEqual([...gap_seconds], [2, 5])
  assert.deepEqual(caps, { per_minute: 10, per_hour: 100, per_day: 500, new_chats_per_day: 10 })
  assert.deepEqual(
    { ...defaultPacing("platform_a") },
    {
      gap_seconds: [1, 3],
      per_minute: 20,
      per_hour: 300,
      per_day: 2000,
      new_chats_per_day: 30
    }
  )
})
