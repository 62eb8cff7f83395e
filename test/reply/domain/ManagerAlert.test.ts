import { assert, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { FastCheck, Option } from "effect"
import { alertText, handOffIn, handOffMark, keywordIn } from "../../../src/reply/domain/ManagerAlert.ts"

const alerts = (...keywords: ReadonlyArray<string>) => ({ enabled: true, to: "pbuser:owner", keywords })

it.prop("the mark is found and never left in the text", [FastCheck.lorem(), FastCheck.lorem()], ([before, after]) => {
  const { isHandOff, text } = handOffIn(`${before} ${handOffMark} ${after}`)
  assert.isTrue(isHandOff)
  assert.notInclude(text, handOffMark)
  assert.isFalse(handOffIn(before).isHandOff)
  assert.strictEqual(handOffIn(before).text, before)
})

it("finds a keyword in any of the texts, whatever its case", () => {
  deepStrictEqual(keywordIn(alerts("order", "REFUND"), ["Hello", "a Refund, please"]), Option.some("REFUND"))
  deepStrictEqual(keywordIn(alerts("order"), ["Hello"]), Option.none())
  deepStrictEqual(keywordIn(alerts(), ["Hello"]), Option.none())
})

it.prop("an alert fits in one message and cuts no character", [FastCheck.string({ unit: "binary" })], ([said]) => {
  const text = alertText("A person is asked for", "maria", [said.repeat(20)])
  assert.isAtMost(text.length, 1000)
  assert.include(text, "maria")
})
