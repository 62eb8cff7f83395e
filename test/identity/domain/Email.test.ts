import { assert, describe, it } from "@effect/vitest"
import { FastCheck, Schema } from "effect"
import { Email } from "../../../src/identity/domain/Email.ts"

const isEmail = (text: string) => Schema.decodeUnknownOption(Email)(text)._tag === "Some"

const address = FastCheck.emailAddress({ size: "small" }).filter((text) => text.length <= 254)

describe("Email", () => {
  it.prop("takes every address, trimmed", [address], ([text]) => {
    assert.strictEqual(Schema.decodeUnknownSync(Email)(`  ${text}\n`), text)
  })

  it.prop("takes none with a second @, a space or a control character inside", [address], ([text]) => {
    for (const intruder of ["@", " ", "\u0000", "\u007f"]) assert.isFalse(isEmail(`a${intruder}${text}`))
  })

  it("takes a dotless domain, and neither half an address nor one that is too long", () => {
    assert.isTrue(isEmail("operator@localhost"))
    assert.isTrue(isEmail(`${"a".repeat(245)}@b.co`))
    for (const text of ["", "ann", "ann@", "@b.co", "ann@b..co", "ann@-b.co", `${"a".repeat(250)}@b.co`]) {
      assert.isFalse(isEmail(text), text)
    }
  })
})
