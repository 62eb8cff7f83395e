import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { DateTime, Duration, FastCheck, Option } from "effect"
import { healthOf, isLost } from "../../../src/webhook/domain/Health.ts"
import { nextDelay } from "../../../src/webhook/domain/RetryTable.ts"
import { verdict } from "../../../src/webhook/domain/Settle.ts"

const now = DateTime.unsafeMake(Date.UTC(2026, 10, 21))
const inputs = FastCheck.record({
  attemptCount: FastCheck.integer({ min: 0, max: 8 }),
  retryCount: FastCheck.integer({ min: 0, max: 5 }),
  code: FastCheck.oneof(FastCheck.constant(0), FastCheck.integer({ min: 200, max: 599 })),
  retryAfter: FastCheck.constant(Option.none<string>()),
  now: FastCheck.constant(now)
})

describe("Settle", () => {
  it.prop("2xx and nothing else is success", [inputs], ([input]) => {
    assert.strictEqual(verdict(input).state === "succeeded", input.code >= 200 && input.code <= 299)
  })

  it.prop("counts every attempt, and is due again exactly when it failed and a retry is left", [inputs], ([input]) => {
    const { attemptCount, dueAt, state } = verdict(input)
    assert.strictEqual(attemptCount, input.attemptCount + 1)
    assert.strictEqual(Option.isSome(dueAt), state === "failed")
    if (state === "succeeded" || input.code === 410) return
    const wait = nextDelay(attemptCount, input.retryCount)
    deepStrictEqual(
      dueAt,
      Option.map(wait, (delay) => DateTime.addDuration(now, delay))
    )
    assert.strictEqual(state, Option.isSome(wait) ? "failed" : "exhausted")
  })

  it.prop("410 ends a delivery at once", [inputs], ([input]) => {
    const { dueAt, state } = verdict({ ...input, code: 410 })
    assert.strictEqual(state, "exhausted")
    assert.isTrue(Option.isNone(dueAt))
  })
})

describe("Health", () => {
  const failing = FastCheck.array(FastCheck.constantFrom(0, 301, 404, 500, 503), { minLength: 1 })

  it.prop("one success makes an endpoint well, 410 ends it whatever else it said", [failing], ([codes]) => {
    assert.strictEqual(healthOf(codes), "failing")
    assert.strictEqual(healthOf([...codes, 204]), "well")
    assert.strictEqual(healthOf([200, ...codes, 410]), "gone")
  })

  it.prop("is lost after three days", [FastCheck.integer({ min: 0, max: 10 * 24 * 3600 })], ([seconds]) => {
    const since = DateTime.subtractDuration(now, Duration.seconds(seconds))
    assert.strictEqual(isLost(since, now), seconds >= 3 * 24 * 3600)
  })
})
