import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { FastCheck } from "effect"
import { quoteBigIntegers } from "../../../src/platform/platform-b/BigIntegers.ts"
import { processorTime } from "../../support/ProcessorTime.ts"

/** JSON text beside the value that reading it after `quoteBigIntegers` must give. */
interface Written {
  readonly text: string
  readonly value: unknown
}

const plain = (value: unknown): Written => ({ text: JSON.stringify(value), value })
const digits = FastCheck.bigInt({ min: 10n ** 15n, max: 10n ** 40n })
const bigInteger = FastCheck.tuple(digits, FastCheck.boolean()).map(([integer, isNegative]) => {
  const text = isNegative ? `-${integer}` : String(integer)
  return { text, value: text }
})
const trap = FastCheck.tuple(FastCheck.string(), digits).map(([text, integer]) =>
  plain(`${text}\\":${integer},"${integer}`)
)
const fraction = digits.map((integer) => ({ text: `0.${integer}`, value: Number(`0.${integer}`) }))
const decimal = digits.map((integer) => ({ text: `${integer}.5`, value: Number(`${integer}.5`) }))
const exponent = digits.map((integer) => ({ text: `${integer}e-9`, value: Number(`${integer}e-9`) }))
const small = FastCheck.oneof(FastCheck.integer(), FastCheck.double({ noNaN: true, noDefaultInfinity: true }))
  .filter((number) => !Object.is(number, -0) && !/^-?\d{16,}$/.test(String(number)))
  .map(plain)
const other = FastCheck.constantFrom<unknown>(true, false, null).map(plain)
const text = FastCheck.string({ unit: "binary" }).map(plain)

const space = FastCheck.constantFrom("", " ", "\n\t")

const { tree } = FastCheck.letrec<{ tree: Written; list: Written; record: Written }>((tie) => ({
  tree: FastCheck.oneof(
    { depthSize: "small", withCrossShrink: true },
    FastCheck.oneof(bigInteger, trap, fraction, decimal, exponent, small, other, text),
    tie("list"),
    tie("record")
  ),
  list: FastCheck.tuple(FastCheck.array(tie("tree"), { maxLength: 5 }), space).map(([all, gap]) => ({
    text: `[${all.map((one) => `${gap}${one.text}${gap}`).join(",")}]`,
    value: all.map(({ value }) => value)
  })),
  record: FastCheck.tuple(FastCheck.array(tie("tree"), { maxLength: 5 }), FastCheck.string(), space).map(
    ([all, name, gap]) => {
      const keys = all.map((_, index) => `${index}-${name}1234567890123456789`)
      return {
        text: `{${all.map((one, index) => `${gap}${JSON.stringify(keys[index])}:${gap}${one.text}`).join(",")}}`,
        value: Object.fromEntries(all.map(({ value }, index) => [keys[index], value]))
      }
    }
  )
}))

describe("quoteBigIntegers", () => {
  it.prop("reads as the same JSON, with long integers as text", [tree], ([written]) => {
    deepStrictEqual(JSON.parse(quoteBigIntegers(written.text)), written.value)
  })

  it.prop("leaves JSON without long integers as it is", [FastCheck.jsonValue()], ([value]) => {
    const json = JSON.stringify(value, (_, inner: unknown) => (typeof inner === "number" ? inner % 1000 : inner))
    if (!/\d{16,}/.test(json)) assert.strictEqual(quoteBigIntegers(json), json)
  })

  it("takes a moment for megabytes, broken ones too", () => {
    const long = `{"text":"${'\\"'.repeat(2_000_000)}"}`
    const broken = long.slice(0, -2)
    const number = "1".repeat(1_000_000)
    const taken = processorTime(() => {
      assert.strictEqual(quoteBigIntegers(long), long)
      assert.strictEqual(quoteBigIntegers(broken), broken)
      assert.strictEqual(quoteBigIntegers(`[${number}]`), `["${number}"]`)
    })
    assert.isBelow(taken, 2_000)
  })
})
