import { assert, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Duration, FastCheck, Option } from "effect"
import { afterOutage, afterRateLimit, jittered } from "../../../src/channel/domain/Pace.ts"

const chance = FastCheck.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const times = FastCheck.integer({ min: 1, max: 1000 })
const seconds = FastCheck.integer({ min: 1, max: 86_400 })

it.prop(
  "polls stay within a quarter of the interval",
  [FastCheck.integer({ min: 1, max: 3600 }), chance],
  ([poll, at]) => {
    const wait = Duration.toSeconds(jittered(Duration.seconds(poll), at))
    assert.isAtLeast(wait, poll * 0.75)
    assert.isAtMost(wait, poll * 1.25)
  }
)

it("rests 5, 15 and 45 minutes, then 3 hours, after the platform asked to slow down", () => {
  const minutes = [1, 2, 3, 4, 5].map((nth) => Duration.toMinutes(afterRateLimit(nth, Option.none(), 0)))
  deepStrictEqual(minutes, [5, 15, 45, 180, 180])
})

it.prop("never rests less than the platform asked for", [times, seconds, chance], ([nth, asked, at]) => {
  assert.isAtLeast(Duration.toSeconds(afterRateLimit(nth, Option.some(asked), at)), asked)
})

it.prop("waits double from 20 seconds and end at 10 minutes", [times], ([nth]) => {
  const wait = Duration.toSeconds(afterOutage(nth, 0))
  const next = Duration.toSeconds(afterOutage(nth + 1, 0))
  assert.isAtLeast(wait, 20)
  assert.isAtMost(next, 600)
  assert.strictEqual(next, Math.min(wait * 2, 600))
})

it.prop("comes back later by a quarter at most, never sooner", [times, chance], ([nth, at]) => {
  const least = Duration.toSeconds(afterOutage(nth, 0))
  const wait = Duration.toSeconds(afterOutage(nth, at))
  assert.isAtLeast(wait, least)
  assert.isAtMost(wait, least * 1.25)
})
