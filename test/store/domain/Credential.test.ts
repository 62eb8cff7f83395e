import { describe, it } from "@effect/vitest"
import { assertFalse, assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Either, FastCheck, Option } from "effect"
import { type CredentialRules, readCredential } from "../../../src/store/domain/Credential.ts"
import { p256Key, rsaKey, serviceAccountFile } from "../../support/StoreKeys.ts"

const rules: CredentialRules = { appHasBundleId: true, appHasPackageName: true, tokenUri: Option.none() }
const nameless: CredentialRules = { ...rules, appHasBundleId: false, appHasPackageName: false }

const storeA = {
  platform: "store_a",
  store_a_issuer_id: "57246542-96fe-1a63-e053-0824d011072a",
  store_a_key_id: "2X9R4HXF34",
  store_a_private_key: p256Key()
}
const storeB = { platform: "store_b", store_b_service_account_json: serviceAccountFile(rsaKey()) }

type Field = { readonly [field: string]: ReadonlyArray<unknown> }

/** For each field of store A what it must not be; undefined stands for a missing one. */
const wrongForA: Field = {
  environment: ["staging", 7, null],
  store_a_issuer_id: [undefined, null, "", "not-a-uuid", "57246542-96fe-1a63-e053-0824d011072a0", 7],
  store_a_key_id: [undefined, null, "", "2x9r4hxf34", "2X9R4HXF3", "2X9R4HXF345", {}],
  store_a_private_key: [undefined, null, "", "key", rsaKey(), ["tell-tale"], { pem: "tell-tale" }],
  store_a_bundle_id: ["", "com/example", "tell tale", 7],
  store_b_package_name: ["com.example"],
  store_b_service_account_json: ["{}", { private_key: "tell-tale" }]
}

const wrongForB: Field = {
  environment: ["staging", 7, null],
  store_b_service_account_json: [undefined, null, "", "{}", "tell-tale", { private_key: "tell-tale" }],
  store_b_package_name: ["", "com/example", 7],
  store_a_issuer_id: [storeA.store_a_issuer_id],
  store_a_key_id: ["tell-tale"],
  store_a_private_key: [storeA.store_a_private_key],
  store_a_bundle_id: ["com.example"]
}

const spoilt = (good: object, wrong: Field) =>
  FastCheck.subarray(Object.keys(wrong), { minLength: 1 }).chain((fields) =>
    FastCheck.tuple(...fields.map((field) => FastCheck.constantFrom(...(wrong[field] ?? [])))).map((values) => {
      const body: Record<string, unknown> = { ...good }
      fields.forEach((field, index) => {
        if (values[index] === undefined) delete body[field]
        else body[field] = values[index]
      })
      return { body, fields }
    })
  )

const refused = (body: { readonly [field: string]: unknown }, under = rules) => {
  const read = readCredential(body, under)
  return Either.isLeft(read) ? read.left : []
}

const fieldsOf = (issues: ReturnType<typeof refused>) => [...new Set(issues.map(({ path }) => path.join(".")))].sort()

describe("a request to store a credential", () => {
  for (const [name, good, wrong] of [
    ["store_a", storeA, wrongForA],
    ["store_b", storeB, wrongForB]
  ] as const) {
    it.prop(`for ${name} is told every failing field at once, and no value`, [spoilt(good, wrong)], ([spoiled]) => {
      const issues = refused(spoiled.body)
      deepStrictEqual(fieldsOf(issues), [...spoiled.fields].sort())
      const said = issues.map(({ message }) => message).join()
      assertFalse(said.includes("tell") || said.includes("BEGIN"), said)
    })
  }

  it("needs a platform, and without one still tells of the environment", () => {
    deepStrictEqual(fieldsOf(refused({})), ["platform"])
    deepStrictEqual(fieldsOf(refused({ platform: "store_c", environment: "staging" })), ["environment", "platform"])
  })

  it("is for production unless it says otherwise, and other platforms' fields may be null", () => {
    const read = Either.getOrThrow(readCredential({ ...storeA, store_b_package_name: null, extra: 1 }, rules))
    strictEqual(read.environment, "production")
    strictEqual(Either.getOrThrow(readCredential({ ...storeB, environment: "sandbox" }, rules)).environment, "sandbox")
  })

  it("says the app's name in the store itself where the app has none", () => {
    deepStrictEqual(fieldsOf(refused(storeA, nameless)), ["store_a_bundle_id"])
    deepStrictEqual(fieldsOf(refused({ ...storeB, store_b_package_name: null }, nameless)), ["store_b_package_name"])
    deepStrictEqual(fieldsOf(refused({ platform: "store_a" }, nameless)), [
      "store_a_bundle_id",
      "store_a_issuer_id",
      "store_a_key_id",
      "store_a_private_key"
    ])
    assertTrue(Either.isRight(readCredential({ ...storeA, store_a_bundle_id: "com.example.notes" }, nameless)))
    assertTrue(Either.isRight(readCredential({ ...storeB, store_b_package_name: "com.example.notes" }, nameless)))
  })
})
