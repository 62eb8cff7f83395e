import { assert, it } from "@effect/vitest"
import { Duration, FastCheck } from "effect"
import { backoff, nextStep } from "../../../src/channel/domain/Reconnect.ts"
import { ConnectionEnd } from "../../../src/platform/domain/PlatformEvent.ts"

const ends = FastCheck.constantFrom(...ConnectionEnd.literals)
const times = FastCheck.integer({ min: 1, max: 500 })
const chance = FastCheck.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

it.prop("waits grow from half a second and never beyond five minutes", [times, chance], ([n, random]) => {
  const wait = Duration.toMillis(backoff(n, random))
  assert.isAtLeast(wait, 500)
  assert.isAtMost(wait, 300_000)
  assert.isAtLeast(Duration.toMillis(backoff(n + 1, random)), wait)
})

it.prop("only a session that was ended for good is forgotten", [ends, times, chance], ([end, n, random]) => {
  const step = nextStep(end, n, random)
  const isForgotten = step._tag === "Over" && step.isForgotten
  assert.strictEqual(isForgotten, end === "logged_out" || end === "qr_expired")
})

it.prop("trouble that passes is always tried again, refusals never", [times, chance], ([n, random]) => {
  for (const end of ["lost", "slow_down", "restart"] as const)
    assert.strictEqual(nextStep(end, n, random)._tag, "Again")
  for (const end of ["banned", "app_version_rejected", "logged_out", "relink_required"] as const) {
    assert.strictEqual(nextStep(end, n, random)._tag, "Over")
  }
})

it.prop("a session that somebody took is taken back once, after a minute at least", [chance], ([random]) => {
  const first = nextStep("replaced", 1, random)
  assert.isTrue(first._tag === "Again" && Duration.toMillis(first.wait) >= 60_000)
  assert.strictEqual(nextStep("replaced", 2, random)._tag, "Over")
})

it("a restart that the platform asks for is done at once, unless it asks again and again", () => {
  const waits = [1, 5, 6].map((n) => {
    const step = nextStep("restart", n, 0)
    return step._tag === "Again" ? Duration.toMillis(step.wait) : -1
  })
  assert.isTrue(waits[0] === 0 && waits[1] === 0 && (waits[2] ?? 0) > 0)
})
