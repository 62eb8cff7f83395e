import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { takes } from "../../../src/webhook/domain/EventFilter.ts"

const word = FastCheck.stringMatching(/^[a-z_]{1,8}$/)
const event = FastCheck.array(word, { minLength: 2, maxLength: 3 }).map((words) => words.join("."))

describe("EventFilter", () => {
  it.prop("an event is taken by *, by its own name and by its family", [event], ([name]) => {
    const family = `${name.slice(0, name.indexOf("."))}.*`
    assert.isTrue(takes(["*"], name))
    assert.isTrue(takes([name], name))
    assert.isTrue(takes([family], name))
    assert.isTrue(takes(["other.thing", family], name))
  })

  it.prop("an exact name takes nothing else", [event, event], ([one, other]) => {
    assert.strictEqual(takes([one], other), one === other)
    assert.isFalse(takes([one], `${one}.more`))
    assert.isFalse(takes([one], `x${one}`))
  })

  it.prop("a family takes what is below it, dot included", [word, word], ([family, name]) => {
    assert.isTrue(takes([`${family}.*`], `${family}.${name}`))
    assert.isFalse(takes([`${family}.*`], family))
    assert.isFalse(takes([`${family}.*`], `${family}${name}.x`))
  })

  it.prop("no filter takes nothing", [event], ([name]) => {
    assert.isFalse(takes([], name))
  })
})
