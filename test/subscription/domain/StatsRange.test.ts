import { describe, it } from "@effect/vitest"
import { assertLeft, assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { DateTime, Either, FastCheck, Option } from "effect"
import { daysOf, endOf, longestRange, statsRange } from "../../../src/subscription/domain/StatsRange.ts"

const now = DateTime.unsafeMake("2026-11-21T10:30:00Z")
const moment = FastCheck.integer({ min: -800, max: 800 }).map((hours) => DateTime.add(now, { hours: hours * 7 }))
const at = (text: string) => Option.some(DateTime.unsafeMake(text))
const isoDay = DateTime.formatIsoDateUtc

describe("a range of figures", () => {
  it.prop(
    "is every day from its first to its last, or is refused at the field to blame",
    [FastCheck.option(moment), FastCheck.option(moment)],
    ([first, last]) => {
      const to = isoDay(last ?? now)
      const from = isoDay(first ?? DateTime.subtract(last ?? now, { days: 27 }))
      const range = statsRange({ from: Option.fromNullable(first), to: Option.fromNullable(last) }, now)
      const days = (Date.parse(to) - Date.parse(from)) / 86_400_000 + 1
      if (Either.isLeft(range)) {
        const blamed = from > isoDay(now) || days < 1 ? "from" : "to"
        deepStrictEqual(Object.keys(range.left), [blamed])
        assertTrue(from > isoDay(now) || days < 1 || days > longestRange)
        return
      }
      const told = daysOf(range.right)
      deepStrictEqual([told[0], told.at(-1), told.length], [from, to, days])
      strictEqual(new Set(told).size, days)
      strictEqual(isoDay(endOf(range.right)), isoDay(DateTime.add(DateTime.unsafeMake(to), { days: 1 })))
    }
  )

  it("is four weeks up to today, and may begin today but not tomorrow", () => {
    const usual = Either.getOrThrow(statsRange({ from: Option.none(), to: Option.none() }, now))
    deepStrictEqual([isoDay(usual.from), usual.days], ["2026-10-25", 28])
    strictEqual(Either.getOrThrow(statsRange({ from: at("2026-11-21T23:00:00Z"), to: Option.none() }, now)).days, 1)
    assertLeft(statsRange({ from: at("2026-11-22"), to: at("2026-11-23") }, now), {
      from: ["must not lie in the future"]
    })
  })
})
