import { describe, it } from "@effect/vitest"
import { assertNone, assertSome, strictEqual } from "@effect/vitest/utils"
import { FastCheck, Option } from "effect"
import { formatPeriod, parsePeriod } from "../../../src/catalog/domain/Period.ts"
import { faultsOf } from "../../../src/catalog/domain/Product.ts"

const period = FastCheck.record({
  count: FastCheck.integer({ min: 1, max: 999 }),
  unit: FastCheck.constantFrom("D" as const, "W" as const, "M" as const, "Y" as const)
})

describe("Period", () => {
  it.prop("reads what it writes", [period], ([value]) => assertSome(parsePeriod(formatPeriod(value)), value))

  it.prop("reads nothing else", [FastCheck.string()], ([text]) => {
    const read = parsePeriod(text)
    if (Option.isSome(read)) strictEqual(formatPeriod(read.value), text)
  })

  it("knows the shape P<n><unit> only", () => {
    for (const text of [
      "P0M",
      "P1",
      "PM",
      "1M",
      "P1H",
      "PT1M",
      "P1M ",
      "P1M1D",
      "P-1M",
      "P1.5M",
      "p1m",
      "P01M",
      "P1000D",
      ""
    ]) {
      assertNone(parsePeriod(text))
    }
  })
})

describe("faultsOf", () => {
  it("asks a period of subscriptions, and one colon at most of store B", () => {
    const fields = (product: Parameters<typeof faultsOf>[0]) =>
      faultsOf(product)
        .map(({ field }) => field)
        .join()
    const wrong = { store: "store_b", identifier: "a:b:c", type: "subscription" }
    strictEqual(fields(wrong), "identifier,subscription_period")
    strictEqual(fields({ ...wrong, identifier: "a:b", subscriptionPeriod: "P1M" }), "")
    strictEqual(fields({ ...wrong, store: "store_a", subscriptionPeriod: "P1M" }), "")
    strictEqual(fields({ ...wrong, identifier: "a:", subscriptionPeriod: null }), "identifier,subscription_period")
    strictEqual(fields({ store: "store_b", identifier: "a", type: "consumable" }), "")
    strictEqual(fields({}), "")
  })
})
