import { assert, describe, it } from "@effect/vitest"
import { assertNone, assertSome } from "@effect/vitest/utils"
import { FastCheck } from "effect"
import { candidate, isSlug, slugOf } from "../../../src/identity/domain/Slug.ts"
import { TenantId, tenantRef } from "../../../src/identity/domain/User.ts"

const name = FastCheck.string({ unit: "grapheme", maxLength: 255 })

describe("Slug", () => {
  it.prop("is a short URL word that can be told from an id", [name], ([name]) => {
    const slug = slugOf(name, "app")
    assert.isTrue(isSlug(slug))
    assert.isAtMost(slug.length, 60)
    assert.notMatch(slug, /^[0-9a-f]{8}-[0-9a-f]{4}-/)
    assert.strictEqual(slugOf(slug, "app"), slug)
  })

  it.prop(
    "has as many different candidates as are asked for",
    [name, FastCheck.integer({ min: 2, max: 20 })],
    (given) => {
      const [name, count] = given
      const slug = slugOf(name, "app")
      const candidates = Array.from({ length: count }, (_, index) => candidate(slug, index + 1))
      assert.strictEqual(candidates[0], slug)
      assert.strictEqual(new Set(candidates).size, count)
      assert.isTrue(candidates.every(isSlug))
    }
  )

  it.prop("names a tenant, and so does its id in either case", [name, FastCheck.uuid()], ([name, id]) => {
    const slug = slugOf(name, "workspace")
    assertSome(tenantRef(slug), { slug })
    assertSome(tenantRef(id.toUpperCase()), { id: TenantId.make(id) })
  })

  it("is none of these", () => {
    for (const text of ["", "-", "a--b", "A", "a b", "ä", "a\u0000", "a/b", "-a", "a-"]) assertNone(tenantRef(text))
  })
})
