import { assert, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { beginning, storableId, storableText } from "../../../src/platform/domain/StorableText.ts"

/** Any UTF-16 units, halves and NUL among them. */
const units = FastCheck.array(
  FastCheck.oneof(FastCheck.integer({ min: 0, max: 0xffff }), FastCheck.constantFrom(0, 0xd83d, 0xde00)),
  { maxLength: 30 }
).map((codes) => String.fromCharCode(...codes))
const wholeText = FastCheck.string({ unit: "binary", maxLength: 30 }).map((text) => text.replaceAll("\0", ""))

it.prop("what is stored has neither NUL nor halves, and stays as it is", [units], ([text]) => {
  for (const stored of [storableText(text), storableId(text)]) {
    assert.notMatch(stored, /\p{Surrogate}|\0/u)
    assert.strictEqual(storableText(stored), stored)
    assert.strictEqual(storableId(stored), stored)
  }
  assert.strictEqual(storableId(text).length, text.length)
})

it.prop("a whole text is its own", [wholeText], ([text]) => {
  assert.strictEqual(storableText(text), text)
  assert.strictEqual(storableId(text), text)
})

it.prop("the beginning of a whole text is whole, and as long as may be", [wholeText, FastCheck.nat(40)], (given) => {
  const [text, longest] = given
  const begun = beginning(text, longest)
  assert.isTrue(text.startsWith(begun))
  assert.notMatch(begun, /\p{Surrogate}/u)
  assert.isAtLeast(begun.length, Math.min(text.length, longest - 1))
  assert.isAtMost(begun.length, longest)
})
