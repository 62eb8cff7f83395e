import { describe, it } from "@effect/vitest"
import { assertNone, assertSome, strictEqual } from "@effect/vitest/utils"
import { FastCheck } from "effect"
import { fromMicros, mostMicros, toMicros } from "../../../src/catalog/domain/Money.ts"

const micros = FastCheck.integer({ min: 0, max: mostMicros })
const digits = FastCheck.tuple(
  FastCheck.integer({ min: 0, max: 999_999_999 }),
  FastCheck.integer({ min: 0, max: 999_999 }).map((fraction) => String(fraction).padStart(6, "0"))
)

describe("Money", () => {
  it.prop("comes back from the wire as it went", [micros], ([amount]) => {
    assertSome(toMicros(JSON.parse(JSON.stringify(fromMicros(amount)))), amount)
  })

  it.prop("is exactly the digits that were written", [digits], ([[units, fraction]]) => {
    assertSome(toMicros(JSON.parse(`${units}.${fraction}`)), Number(`${units}${fraction}`))
  })

  it.prop(
    "refuses a seventh decimal",
    [FastCheck.integer({ min: 0, max: 10 ** 8 }), FastCheck.integer({ min: 1, max: 9 })],
    ([front, last]) => {
      assertNone(toMicros((front * 10 + last) / 10 ** 7))
    }
  )

  it("refuses what it could not keep exactly", () => {
    assertSome(toMicros(9.99), 9_990_000)
    assertSome(toMicros(-0), 0)
    assertSome(toMicros(0.1), 100_000)
    assertSome(toMicros(1e-6), 1)
    assertSome(toMicros(999_999_999.999999), mostMicros)
    for (const amount of [0.1 + 0.2, 12_345_678_901.99, 1_000_000_000, -1, 1e-7, Number.NaN, Infinity, 1e21]) {
      assertNone(toMicros(amount))
    }
    strictEqual(fromMicros(9_990_000), 9.99)
  })
})
