import { describe, it } from "@effect/vitest"
import { assertNone, assertSome, assertTrue, deepStrictEqual } from "@effect/vitest/utils"
import { FastCheck, Option } from "effect"
import { namesOf, soldAs } from "../../../src/catalog/domain/Product.ts"

const word = FastCheck.stringMatching(/^[a-z][a-z.]{0,3}$/)
const store = FastCheck.constantFrom("store_a" as const, "store_b" as const, "store_c" as const, "custom" as const)
const catalogue = FastCheck.array(
  FastCheck.record({
    identifier: FastCheck.oneof(
      word,
      FastCheck.tuple(word, word).map(([product, plan]) => `${product}:${plan}`)
    )
  })
)

describe("a product that a store sold", () => {
  it.prop(
    "is the base plan where the catalogue has it, whatever else it has",
    [word, word, catalogue],
    ([p, b, others]) => {
      const plan = { identifier: `${p}:${b}` }
      const without = others.filter(({ identifier }) => identifier !== plan.identifier)
      assertSome(soldAs("store_b", `${p}:${b}`, [{ identifier: p }, ...without, plan]), plan)
    }
  )

  it.prop("is else the product of the plan, and never another plan", [word, word, catalogue], ([p, b, others]) => {
    const without = others.filter(({ identifier }) => identifier !== `${p}:${b}` && identifier !== p)
    assertNone(soldAs("store_b", `${p}:${b}`, without))
    assertSome(soldAs("store_b", `${p}:${b}`, [...without, { identifier: p }]), { identifier: p })
  })

  it.prop(
    "has one name where no base plan is told, and in other stores",
    [store, word, word, catalogue],
    ([at, p, b, found]) => {
      deepStrictEqual(namesOf(at, p), [p])
      deepStrictEqual(namesOf(at, `${p}:${b}`), at === "store_b" ? [`${p}:${b}`, p] : [`${p}:${b}`])
      assertTrue(Option.isNone(soldAs(at, p, found)) === found.every(({ identifier }) => identifier !== p))
    }
  )
})
