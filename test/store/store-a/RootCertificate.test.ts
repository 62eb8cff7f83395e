import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { assert, it } from "@effect/vitest"
import { rootCertificate } from "../../../src/store/store-a/RootCertificate.ts"
import { fingerprint } from "../../../src/store/store-a/SignedChain.ts"

it("the pinned root is the one that the store's own library tests against", () => {
  assert.strictEqual(
    fingerprint(rootCertificate),
    "63:34:3A:BF:B8:9A:6A:03:EB:B5:7E:9B:3F:5F:A7:BE:7C:4F:5C:75:6F:30:17:B3:A8:C4:88:C3:65:3E:91:79"
  )
  const library = createRequire(import.meta.url).resolve("@apple/app-store-server-library")
  const tests = readFileSync(new URL("tests/unit-tests/jws_verification.test.js", `file://${library}`), "utf8")
  assert.include(tests, rootCertificate.toString("base64"))
})
