import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { quoteBigIntegers } from "../../../src/platform/platform-b/BigIntegers.ts"

const json = FastCheck.jsonValue()

describe("quoteBigIntegers", () => {
  it.prop("leaves JSON without big integers as it is", [json], ([value]) => {
    const text = JSON.stringify(value)
    if (!/\d{16,}/.test(text)) assert.strictEqual(quoteBigIntegers(text), text)
    else JSON.parse(quoteBigIntegers(text))
  })

  it.prop(
    "keeps every digit of a big integer",
    [FastCheck.bigInt({ min: 10n ** 16n, max: 10n ** 25n }), FastCheck.string()],
    ([n, s]) => {
      const text = `{"a":${n},"b":[${n},-${n}],"c":${JSON.stringify(`${s}:${n},`)},"d":0.${n},"e":${n}.5,"f":1e5}`
      const parsed = JSON.parse(quoteBigIntegers(text))
      assert.strictEqual(parsed.a, String(n))
      assert.deepStrictEqual(parsed.b, [String(n), `-${n}`])
      assert.strictEqual(parsed.c, `${s}:${n},`)
      assert.isNumber(parsed.d)
      assert.isNumber(parsed.e)
    }
  )
})
