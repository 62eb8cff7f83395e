import { generateKeyPairSync } from "node:crypto"
import { describe, it } from "@effect/vitest"
import { assertNone, assertSome } from "@effect/vitest/utils"
import { FastCheck } from "effect"
import { pkcs8 } from "../../../src/store/domain/PrivateKey.ts"
import { p256Key, rsaKey } from "../../support/StoreKeys.ts"

const rsa = rsaKey()
const known = p256Key()

/** One key in one of the forms that people paste. */
const pasted = FastCheck.record({
  width: FastCheck.integer({ min: 1, max: 200 }),
  lineBreak: FastCheck.constantFrom("\n", "\r\n", "\\n", "\\r\\n", " "),
  before: FastCheck.constantFrom("", "\n", "  "),
  after: FastCheck.constantFrom("", "\n", "\\n", "\r\n\r\n")
}).map(({ after, before, lineBreak, width }) => {
  const pem = p256Key()
  const body = pem.replace(/-----[A-Z ]+-----|\s/g, "")
  const lines = body.match(new RegExp(`.{1,${width}}`, "g")) ?? []
  const text = ["-----BEGIN PRIVATE KEY-----", ...lines, "-----END PRIVATE KEY-----"].join(lineBreak)
  return { pem, text: `${before}${text}${after}` }
})

describe("a private key", () => {
  it.prop("is the same key however its lines were broken", [pasted], ([{ pem, text }]) => {
    assertSome(pkcs8(text, "p256"), pem)
  })

  it.prop("is none when a part of it is missing", [FastCheck.double({ min: 0, max: 1, noNaN: true })], ([part]) => {
    const end = known.trimEnd().length - 1
    assertNone(pkcs8(known.slice(0, Math.floor(part * end)), "p256"))
  })

  it.prop("is not any text", [FastCheck.string()], ([text]) => {
    assertNone(pkcs8(text, "p256"))
    assertNone(pkcs8(`-----BEGIN PRIVATE KEY-----\n${text}\n-----END PRIVATE KEY-----`, "rsa"))
  })

  it("is of the kind that its store uses", () => {
    assertSome(pkcs8(rsa, "rsa"), rsa)
    assertNone(pkcs8(rsa, "p256"))
    assertNone(pkcs8(known, "rsa"))
    assertNone(pkcs8(rsaKey(1024), "rsa"))
  })

  it("is neither of another curve or encoding, nor encrypted, nor public", () => {
    const spki = { type: "spki", format: "pem" } as const
    const ec = (namedCurve: string, privateKeyEncoding: object) =>
      generateKeyPairSync("ec", {
        namedCurve,
        privateKeyEncoding: privateKeyEncoding as never,
        publicKeyEncoding: spki
      })
    const pem = { type: "pkcs8", format: "pem" }
    assertNone(pkcs8(ec("P-384", pem).privateKey, "p256"))
    assertNone(pkcs8(ec("secp256k1", pem).privateKey, "p256"))
    assertNone(pkcs8(ec("P-256", { type: "sec1", format: "pem" }).privateKey, "p256"))
    assertNone(pkcs8(ec("P-256", { ...pem, cipher: "aes-256-cbc", passphrase: "x" }).privateKey, "p256"))
    assertNone(pkcs8(ec("P-256", pem).publicKey, "p256"))
    assertNone(
      pkcs8(generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString(), "p256")
    )
  })
})
