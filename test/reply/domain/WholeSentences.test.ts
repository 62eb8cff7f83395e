import { assert, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { wholeSentences } from "../../../src/reply/domain/WholeSentences.ts"

const sentence = FastCheck.lorem({ mode: "sentences", maxCount: 1 })
const rest = FastCheck.lorem({ maxCount: 8 }).map((words) => words.replaceAll(".", ""))

it.prop(
  "what was said in full stays, what broke off goes",
  [FastCheck.array(sentence, { minLength: 1 }), rest],
  (said) => {
    const [sentences, broken] = said
    const whole = sentences.join(" ")
    assert.strictEqual(wholeSentences(`${whole} ${broken}`), whole)
    assert.strictEqual(wholeSentences(whole), whole)
  }
)

it.prop(
  "any text becomes its own beginning, and never nothing",
  [FastCheck.string({ unit: "grapheme", minLength: 1 }).filter((text) => /[^\s\u200d]/.test(text))],
  ([text]) => {
    const kept = wholeSentences(text)
    assert.isTrue(kept !== "" && text.startsWith(kept.replace(/…$/, "")))
  }
)

it("without a whole sentence ends at a word", () => {
  assert.strictEqual(wholeSentences("We are open from nine to fi"), "We are open from nine to…")
  assert.strictEqual(wholeSentences("Donaudampfschiff"), "Donaudampfschiff…")
  assert.strictEqual(wholeSentences("- bread\n- butter\n- ja"), "- bread\n- butter")
  assert.strictEqual(wholeSentences("営業中です。明日は"), "営業中です。")
})

it("does not lose a long list behind one sentence", () => {
  const list = "bread and butter ".repeat(60)
  assert.isAbove(wholeSentences(`We have this. ${list}`).length, 900)
})

it("leaves nothing of a sign that came in part", () => {
  for (const part of ["\ufffd", "\ufffd\ufffd", "\u200d", "\u200d\ufffd"]) {
    assert.strictEqual(wholeSentences(`Welcome 👩${part}`), "Welcome…")
    assert.strictEqual(wholeSentences(`Welcome.${part}`), "Welcome.")
    assert.strictEqual(wholeSentences(part), "")
  }
})
