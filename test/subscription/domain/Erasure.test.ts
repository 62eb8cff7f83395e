import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { FastCheck, Schema } from "effect"
import { AppUserId, isAnonymous } from "../../../src/subscription/domain/Customer.ts"
import { withoutNames } from "../../../src/subscription/domain/Erasure.ts"

const names = ["ann", "$anonymous:1", "ann@example.com"]
const json = FastCheck.letrec((tie) => ({
  value: FastCheck.oneof(
    { depthSize: "small" },
    FastCheck.constantFrom(...names),
    FastCheck.string(),
    FastCheck.double({ noNaN: true }),
    FastCheck.constantFrom(null, true, false),
    FastCheck.array(tie("value"), { maxLength: 4 }),
    FastCheck.dictionary(FastCheck.oneof(FastCheck.constantFrom(...names), FastCheck.string()), tie("value"), {
      maxKeys: 4
    })
  )
})).value

const textsOf = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return [value]
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => [key, ...textsOf(inner)])
}

describe("withoutNames", () => {
  it.prop("leaves no name, at any depth, in keys and values", [json], ([value]) => {
    const texts = textsOf(withoutNames(value, new Set(names), "x"))
    for (const name of names) assert.notInclude(texts, name)
  })

  it.prop("changes nothing where there is no name", [json], ([value]) => {
    deepStrictEqual(withoutNames(value, new Set(["nobody's name \u0000"]), "x"), value)
  })

  it.prop("done twice is done once", [json], ([value]) => {
    const once = withoutNames(value, new Set(names), "x")
    deepStrictEqual(withoutNames(once, new Set(names), "x"), once)
  })
})

describe("AppUserId", () => {
  const isName = Schema.is(AppUserId)

  it.prop(
    "takes any 1 to 255 characters of any script",
    [FastCheck.array(FastCheck.constantFrom("a", "/", "é", "漢", "🦊", "%", " ", "?", "#"), { maxLength: 300 })],
    ([characters]) => {
      assert.strictEqual(isName(characters.join("")), characters.length >= 1 && characters.length <= 255)
    }
  )

  it("refuses control characters and halves of characters, and knows anonymous ids by how they begin", () => {
    for (const bad of ["", "a\u0000", "a\n", "\u007f", "\u0085", "\ud83e", ".", ".."]) assert.isFalse(isName(bad), bad)
    assert.isTrue(isAnonymous(AppUserId.make("$anonymous:1")))
    assert.isTrue(isAnonymous(AppUserId.make("$RCAnonymousID:1")))
    assert.isFalse(isAnonymous(AppUserId.make("x$anonymous:1")))
  })
})
