import { generateKeyPairSync } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { assertNone, assertSome } from "@effect/vitest/utils"
import { FastCheck, Option, Redacted } from "effect"
import { encryptPassword, passwordKey } from "../../../src/platform/platform-b/EncryptedPassword.ts"
import { makePasswordBox } from "../../../src/simulator/platform-b/PasswordBox.ts"

const box = makePasswordBox()
const id = box.headers["ig-set-password-encryption-key-id"]
const publicKey = box.headers["ig-set-password-encryption-pub-key"]

describe("the sealed password", () => {
  it.prop(
    "is opened by who made the key, and by nobody who changed a byte",
    [FastCheck.string({ unit: "grapheme" }), FastCheck.nat(), FastCheck.nat()],
    ([password, seconds, at]) => {
      const sealed = encryptPassword(Redacted.make(password), Option.getOrThrow(passwordKey(id, publicKey)), seconds)
      assert.match(sealed, /^#PWD_INSTAGRAM:4:\d+:/)
      assertSome(box.open(sealed), password)
      const head = sealed.slice(0, sealed.lastIndexOf(":") + 1)
      const bytes = Buffer.from(sealed.slice(head.length), "base64")
      const place = at % bytes.length
      bytes[place] = (bytes[place] ?? 0) ^ 1
      assertNone(box.open(head + bytes.toString("base64")))
    }
  )

  it("takes no key that is none", () => {
    const curve = generateKeyPairSync("ed25519").publicKey.export({ type: "spki", format: "pem" }).toString()
    const bad = [
      [undefined, publicKey],
      ["256", publicKey],
      ["x", publicKey],
      [id, undefined],
      [id, Buffer.from("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----").toString("base64")],
      [id, Buffer.from(curve).toString("base64")]
    ] as const
    for (const [number, base64] of bad) assertNone(passwordKey(number, base64))
  })
})
