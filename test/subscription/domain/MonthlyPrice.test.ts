import { describe, it } from "@effect/vitest"
import { assertTrue, strictEqual } from "@effect/vitest/utils"
import { FastCheck, Option } from "effect"
import { monthlyMicros } from "../../../src/subscription/domain/MonthlyPrice.ts"

/** RevenueCat's table, with the lengths that such periods have on the calendar. */
const table: ReadonlyArray<readonly [string, ReadonlyArray<number>, number]> = [
  ["P1D", [1], 360],
  ["P3D", [3], 120],
  ["P1W", [7], 48],
  ["P2W", [14], 24],
  ["P4W", [28], 12],
  ["P1M", [28, 29, 30, 31], 12],
  ["P2M", [59, 60, 61, 62], 6],
  ["P3M", [89, 90, 91, 92], 4],
  ["P6M", [181, 182, 183, 184], 2],
  ["P1Y", [365, 366], 1]
]

const price = FastCheck.integer({ min: 0, max: 1_000_000_000 })

describe("a monthly price", () => {
  it.prop("is the same by the product's period and by the days that were bought", [price], ([micros]) => {
    for (const [period, lengths, twelfths] of table) {
      for (const days of lengths) {
        const expected = (micros * twelfths) / 12
        assertTrue(Math.abs(monthlyMicros(micros, Option.some(period), 5) - expected) <= 0.5, period)
        assertTrue(Math.abs(monthlyMicros(micros, Option.none(), days) - expected) <= 0.5, `${days} days`)
      }
    }
  })

  it("is a whole number of micros, rounded half up", () => {
    strictEqual(monthlyMicros(59_990_000, Option.some("P1Y"), 365), 4_999_167)
    strictEqual(monthlyMicros(1, Option.some("P2M"), 61), 1)
    strictEqual(monthlyMicros(100, Option.none(), 0), 3000)
    strictEqual(monthlyMicros(100, Option.some("a month"), 30), 100)
  })
})
