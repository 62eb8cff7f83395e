import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { Ability, allows, mayMint, reaches, Role } from "../../../src/identity/domain/Ability.ts"

const abilities = FastCheck.uniqueArray(FastCheck.constantFrom(...Ability.literals))
const ability = FastCheck.constantFrom(...Ability.literals)
const role = FastCheck.constantFrom(...Role.literals)

describe("Ability", () => {
  it.prop("write includes read and nothing else does", [abilities], ([own]) => {
    for (const area of ["tenants", "apps", "credentials", "catalog", "customers", "webhooks"] as const) {
      const write = own.includes("*") || own.includes(`${area}:write`)
      assert.strictEqual(allows(own, `${area}:write`), write)
      assert.strictEqual(allows(own, `${area}:read`), write || own.includes(`${area}:read`))
    }
  })

  it.prop(
    "what a token may mint never allows more than the token",
    [abilities, abilities, ability],
    ([own, wanted, needed]) => {
      if (mayMint(own, wanted) && allows(wanted, needed)) assert.isTrue(allows(own, needed) || needed === "*")
      if (wanted.includes("*") && !own.includes("*")) assert.isFalse(mayMint(own, wanted))
    }
  )

  it.prop("roles are a chain", [role, role], ([left, right]) => {
    assert.isTrue(reaches(left, right) || reaches(right, left))
    assert.isTrue(reaches("owner", left))
    assert.isTrue(reaches(left, "viewer"))
  })
})
