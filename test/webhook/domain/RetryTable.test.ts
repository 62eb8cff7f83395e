import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { DateTime, Duration, FastCheck, Option } from "effect"
import { delayAfter, nextDelay, retryAfter } from "../../../src/webhook/domain/RetryTable.ts"

const now = DateTime.unsafeMake(Date.UTC(2026, 10, 21, 8, 0, 0))
const millis = (wait: Option.Option<Duration.Duration>) => Option.getOrNull(Option.map(wait, Duration.toMillis))
const longest = 50 * 60_000

const failures = FastCheck.integer({ min: 1, max: 9 })
const retryCounts = FastCheck.integer({ min: 0, max: 5 })
const codes = FastCheck.constantFrom(0, 301, 400, 404, 429, 500, 503)

describe("RetryTable", () => {
  it("waits 5 s, 25 s, 2 min, 10 min, 50 min, then no more", () => {
    const waits = [1, 2, 3, 4, 5, 6].map((nth) => millis(nextDelay(nth, 5)))
    deepStrictEqual(waits, [5_000, 25_000, 120_000, 600_000, 3_000_000, null])
  })

  it.prop("allows exactly as many retries as retry_count says", [failures, retryCounts], ([nth, retryCount]) => {
    assert.strictEqual(Option.isSome(nextDelay(nth, retryCount)), nth <= retryCount)
  })

  it.prop("reads seconds, at most 50 minutes", [FastCheck.integer({ min: 1, max: 9_999_999_999 })], ([seconds]) => {
    assert.strictEqual(millis(retryAfter(` ${seconds} `, now)), Math.min(seconds * 1000, longest))
  })

  it.prop(
    "reads an HTTP date in the future, at most 50 minutes",
    [FastCheck.integer({ min: -9_000, max: 9_000 })],
    ([ahead]) => {
      const date = new Date(now.epochMillis + ahead * 1000).toUTCString()
      assert.strictEqual(millis(retryAfter(date, now)), ahead > 0 ? Math.min(ahead * 1000, longest) : null)
    }
  )

  it.each([
    "",
    "0",
    "-5",
    "1.5",
    "5s",
    "1e3",
    "soon",
    "0x10",
    "+5",
    "99999999999",
    "2026-11-21T09:00:00Z",
    "Sat, 21 Nov 2026 08:01:00",
    "Sat, 21 Nov 2026 08:01:00 CET",
    "Xxx, 99 Zzz 2026 08:01:00 GMT"
  ])("ignores %j", (header) => assert.isNull(millis(retryAfter(header, now))))

  it.prop("ignores any text", [FastCheck.string()], ([text]) => {
    if (!/^\s*\d+\s*$/.test(text)) assert.isNull(millis(retryAfter(text, now)))
  })

  it.prop(
    "is never shorter than the table nor longer than 50 minutes, and listens on 429 and 503 only",
    [
      failures,
      retryCounts,
      codes,
      FastCheck.option(FastCheck.integer({ min: 0, max: 99_999 }).map(String), { nil: "x" })
    ],
    ([nth, retryCount, code, header]) => {
      const table = millis(nextDelay(nth, retryCount))
      const wait = millis(delayAfter({ failures: nth, retryCount, code, retryAfter: Option.some(header), now }))
      if (table === null || wait === null) return assert.strictEqual(wait, table)
      const asked = (code === 429 || code === 503) && header !== "x" ? Number(header) * 1000 : 0
      assert.strictEqual(wait, Math.max(table, Math.min(asked, longest)))
    }
  )
})
