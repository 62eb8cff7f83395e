import { describe, it } from "@effect/vitest"
import { assertFalse, assertTrue, strictEqual } from "@effect/vitest/utils"
import { FastCheck } from "effect"
import { filtersTaking } from "../../../src/webhook/domain/EventFilter.ts"

const word = FastCheck.stringMatching(/^[a-z_]{1,8}$/)
const event = FastCheck.array(word, { minLength: 2, maxLength: 3 }).map((words) => words.join("."))

const takes = (filter: string, name: string) => filtersTaking(name).includes(filter)

describe("EventFilter", () => {
  it.prop("an event is taken by *, by its own name and by each of its families", [event], ([name]) => {
    assertTrue(takes("*", name))
    assertTrue(takes(name, name))
    for (let dot = name.indexOf("."); dot >= 0; dot = name.indexOf(".", dot + 1)) {
      assertTrue(takes(`${name.slice(0, dot)}.*`, name))
    }
  })

  it.prop("an exact name takes nothing else", [event, event], ([one, other]) => {
    strictEqual(takes(one, other), one === other)
    assertFalse(takes(one, `${one}.more`))
    assertFalse(takes(one, `x${one}`))
  })

  it.prop("a family takes what is below it, dot included", [word, word], ([family, name]) => {
    assertTrue(takes(`${family}.*`, `${family}.${name}`))
    assertFalse(takes(`${family}.*`, family))
    assertFalse(takes(`${family}.*`, `${family}${name}.x`))
  })
})
