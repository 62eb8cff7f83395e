import { describe, it } from "@effect/vitest"
import { assertFalse, assertTrue, strictEqual } from "@effect/vitest/utils"
import { FastCheck, Schema } from "effect"
import { after, Period } from "../../src/simulator/Timescale.ts"

const isPeriod = Schema.is(Period)
const moment = Date.UTC(2026, 0, 31)

describe("simulated time", () => {
  it("takes months from the calendar unless it is accelerated", () => {
    strictEqual(after(moment, "P1M", null), Date.UTC(2026, 1, 28))
    strictEqual(after(moment, "P1Y", null), Date.UTC(2027, 0, 31))
    strictEqual(after(moment, "P1WT12H", null), moment + 7.5 * 86_400_000)
    strictEqual(after(moment, "P1M", 10), moment + 10_000)
    strictEqual(after(moment, "P1Y", 10), moment + 120_000)
    strictEqual(after(moment, "P3D", 10), moment + 1_000)
    strictEqual(after(moment, "PT12H", 600), moment + 10_000)
    strictEqual(after(moment, 2.5, 10), moment + 2_500)
  })

  it("knows periods from other texts", () => {
    for (const text of ["P1M", "P7D", "P2W", "P1Y6M", "PT1H", "P1DT30M"]) assertTrue(isPeriod(text), text)
    for (const text of ["", "P", "PT", "P0D", "1M", "P1H", "PT0S", "P-1D", "P1.5D"]) assertFalse(isPeriod(text), text)
  })

  it.prop(
    "always goes on, the slower the longer a month is",
    [FastCheck.constantFrom("PT1S", "P1D", "P1W", "P1M", "P1Y"), FastCheck.double({ min: 0.1, max: 1e6, noNaN: true })],
    ([period, scale]) => {
      assertTrue(after(moment, period, scale) > moment)
      assertTrue(after(moment, period, scale * 2) >= after(moment, period, scale))
    }
  )
})
