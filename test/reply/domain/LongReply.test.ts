import { assert, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { FastCheck } from "effect"
import { splitReply } from "../../../src/reply/domain/LongReply.ts"

const text = FastCheck.oneof(
  FastCheck.string({ unit: "grapheme", maxLength: 400 }),
  FastCheck.lorem({ maxCount: 80 }),
  FastCheck.array(FastCheck.lorem({ maxCount: 20 }), { maxLength: 8 }).map((parts) => parts.join("\n\n"))
)
const limit = FastCheck.integer({ min: 20, max: 200 })
const bare = (parts: ReadonlyArray<string>) => parts.join("").replace(/\s+/g, "")

it.prop("every part fits, none is blank, and nothing but space is lost", [text, limit], ([reply, longest]) => {
  const parts = splitReply(reply, longest)
  assert.isTrue(parts.every((part) => part.length <= longest && part.trim() !== ""))
  assert.strictEqual(bare(parts), bare([reply]))
})

it.prop("what fits stays whole", [text], ([reply]) => {
  deepStrictEqual(splitReply(reply, 10_000), reply.trim() === "" ? [] : [reply.trim()])
})

it.prop("no character is cut in two", [FastCheck.integer({ min: 1, max: 30 }), limit], ([count, longest]) => {
  const family = "👩‍👩‍👧‍👦"
  for (const part of splitReply(family.repeat(count), longest)) assert.strictEqual(part.length % family.length, 0)
})

it.prop("a letter that is longer than a message is cut between its characters", [limit], ([longest]) => {
  const letter = `a${"\u{1d165}".repeat(300)}`
  const parts = splitReply(letter, longest)
  assert.strictEqual(parts.join(""), letter)
  assert.isTrue(parts.every((part) => part.length <= longest && !/\p{Surrogate}/u.test(part)))
})

it("cuts between paragraphs before sentences, and sentences before words", () => {
  deepStrictEqual(splitReply("One two three.\n\nFour five six.", 20), ["One two three.", "Four five six."])
  deepStrictEqual(splitReply("One two three. Four five six.", 20), ["One two three.", "Four five six."])
  deepStrictEqual(splitReply("one two three four five", 14), ["one two three", "four five"])
})
