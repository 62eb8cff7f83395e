import { describe, it } from "@effect/vitest"
import { assertFalse, assertLeft, assertTrue, deepStrictEqual } from "@effect/vitest/utils"
import { Either, FastCheck, Option, Redacted } from "effect"
import { isTokenUri, readServiceAccount } from "../../../src/store/domain/ServiceAccount.ts"
import { p256Key, rsaKey, serviceAccountFile, storeTokenUri } from "../../support/StoreKeys.ts"

const none = Option.none<string>()
const simulator = Option.some("http://127.0.0.1:9104/token")
const key = rsaKey()

const hosts = ["oauth2.googleapis.com", "www.googleapis.com", "accounts.google.com"]

/** Addresses that resemble the store's own. */
const nearMiss = FastCheck.tuple(
  FastCheck.constantFrom("http:", "ftp:", "https:"),
  FastCheck.constantFrom("", "user@", "user:pw@", "oauth2.googleapis.com@"),
  FastCheck.constantFrom(...hosts, "storage.googleapis.com", "googleapis.com", "169.254.169.254", "localhost", "[::1]"),
  FastCheck.constantFrom("", ".example.com", ".", ":8443", ":443")
)

const problems = ["client_email", "private_key", "private_key_id", "token_uri"] as const

describe("a service account", () => {
  it("is read with what is used of it", () => {
    const read = Either.getOrThrow(readServiceAccount(serviceAccountFile(key), none))
    deepStrictEqual(
      { ...read, private_key: Redacted.value(read.private_key) },
      {
        client_email: "gatehouse@notes.iam.gserviceaccount.com",
        private_key: key,
        private_key_id: "f00d",
        token_uri: storeTokenUri
      }
    )
  })

  it.prop(
    "is told each thing that is wrong with it, and nothing of what it holds",
    [
      FastCheck.subarray([...problems], { minLength: 1 }),
      FastCheck.constantFrom("tell-tale", "tell-tale@\u0000", p256Key(), 7, null, {})
    ],
    ([wrong, value]) => {
      const file = serviceAccountFile(key, Object.fromEntries(wrong.map((field) => [field, value])))
      const expected = wrong.filter((field) => field !== "private_key_id" || typeof value !== "string")
      const read = readServiceAccount(file, none)
      const said = Either.isLeft(read) ? read.left : []
      deepStrictEqual(
        said.map((sentence) => sentence.split(" ")[0]),
        problems.filter((field) => expected.includes(field))
      )
      assertFalse(said.join().includes("tell-tale") || said.join().includes("BEGIN"))
    }
  )

  it("needs all but the key's id, in a JSON object", () => {
    const lacking = readServiceAccount("{}", none)
    deepStrictEqual(Either.isLeft(lacking) && lacking.left.length, 3)
    for (const text of ["", "{", "[]", "7", "null", '"{}"', key]) {
      assertLeft(readServiceAccount(text, none), ["must be the JSON object of a service account"])
    }
  })

  it.prop("is answered by the store's own hosts over https alone", [nearMiss], ([[scheme, user, host, rest]]) => {
    const isOwn = scheme === "https:" && user === "" && hosts.includes(host) && (rest === "" || rest === ":443")
    deepStrictEqual(isTokenUri(`${scheme}//${user}${host}${rest}/token`, none), isOwn)
  })

  it("may be answered by exactly the address that the operator configured", () => {
    assertTrue(isTokenUri("http://127.0.0.1:9104/token", simulator))
    assertFalse(isTokenUri("http://127.0.0.1:9104/token", none))
    assertFalse(isTokenUri("http://127.0.0.1:9104/other", simulator))
    assertTrue(isTokenUri(storeTokenUri, simulator))
  })
})
