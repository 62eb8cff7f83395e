import { SqlClient } from "@effect/sql"
import { layer } from "@effect/vitest"
import { assertNone, assertSome, assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { DateTime, Effect, Layer, Option, Redacted, TestClock } from "effect"
import { App, AppId } from "../../src/catalog/domain/App.ts"
import { TenantId } from "../../src/identity/domain/User.ts"
import { nextId } from "../../src/kit/Id.ts"
import { Seal } from "../../src/kit/Seal.ts"
import { Credentials } from "../../src/store/Credentials.ts"
import { p256Key, rsaKey, serviceAccountFile } from "../support/StoreKeys.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

const seal = Seal.layer([Redacted.make(Buffer.alloc(32, 7))])
const simulator = "http://127.0.0.1:9104/token"

const context = Layer.mergeAll(Credentials.layer({ tokenUri: Option.some(simulator) })).pipe(
  Layer.provide(seal),
  Layer.provideMerge(TestDatabase.layer)
)

const page = { before: Option.none(), limit: 50 }

const makeApp = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const now = yield* DateTime.now
  const tenantId = TenantId.make(yield* nextId)
  const at = { createdAt: DateTime.toDateUtc(now), updatedAt: DateTime.toDateUtc(now) }
  yield* sql`INSERT INTO tenants ${sql.insert({ id: tenantId, name: "T", slug: tenantId, ...at })}`
  const id = AppId.make(yield* nextId)
  const app = { id, tenantId, name: "Notes", slug: "notes", publicApiKey: id }
  yield* sql`INSERT INTO apps ${sql.insert({ ...app, ...at })}`
  return App.make({
    ...app,
    bundleId: Option.some("com.example.notes"),
    packageName: Option.some("com.example.notes"),
    platforms: [],
    status: "active",
    transferBehavior: "transfer",
    createdAt: now,
    updatedAt: now
  })
})

const ofStoreA = (key = p256Key()) => ({
  platform: "store_a",
  store_a_issuer_id: "57246542-96fe-1a63-e053-0824d011072a",
  store_a_key_id: "2X9R4HXF34",
  store_a_private_key: key
})

layer(context)("Credentials", (it) => {
  it.effect("keeps no secret that a reader of the table could use, and opens it for a driver", () =>
    Effect.gen(function* () {
      const credentials = yield* Credentials
      const sql = yield* SqlClient.SqlClient
      const app = yield* makeApp
      const [key, serviceKey] = [p256Key(), rsaKey()]
      yield* credentials.put(app, { ...ofStoreA(key.replaceAll("\n", "\\n")), store_a_bundle_id: "com.example.other" })
      yield* credentials.put(app, {
        platform: "store_b",
        store_b_service_account_json: serviceAccountFile(serviceKey, { token_uri: simulator })
      })
      const rows = yield* sql`SELECT * FROM store_credentials WHERE app_id = ${app.id}`
      strictEqual(rows.length, 2)
      const kept = JSON.stringify(rows)
      for (const pem of [key, serviceKey]) {
        const lines = pem.split("\n").slice(1, -2)
        assertTrue(lines.every((line) => !kept.includes(line)))
      }
      const storeA = yield* credentials.storeA(app.id, "production")
      assertSome(
        Option.map(storeA, ({ privateKey }) => Redacted.value(privateKey)),
        key
      )
      assertSome(
        Option.flatMap(storeA, ({ bundleId }) => bundleId),
        "com.example.other"
      )
      assertTrue(!JSON.stringify(storeA).includes("PRIVATE"))
      const storeB = yield* credentials.storeB(app.id, "production")
      assertSome(
        Option.map(storeB, ({ account }) => Redacted.value(account.private_key)),
        serviceKey
      )
      assertSome(
        Option.map(storeB, ({ account }) => account.token_uri),
        simulator
      )
      assertNone(Option.flatMap(storeB, ({ packageName }) => packageName))
    })
  )

  it.effect("opens a secret only for the record that it was sealed for", () =>
    Effect.gen(function* () {
      const credentials = yield* Credentials
      const sql = yield* SqlClient.SqlClient
      const [ours, theirs] = [yield* makeApp, yield* makeApp]
      yield* credentials.put(ours, ofStoreA())
      yield* credentials.put(theirs, ofStoreA())
      yield* sql`
        UPDATE store_credentials SET secret_sealed =
          (SELECT secret_sealed FROM store_credentials WHERE app_id = ${theirs.id}) WHERE app_id = ${ours.id}`
      const opened = yield* Effect.exit(credentials.storeA(ours.id, "production"))
      assertTrue(opened._tag === "Failure")
    })
  )

  it.effect("holds one for each platform and environment: another takes its place under the same id", () =>
    Effect.gen(function* () {
      const credentials = yield* Credentials
      const app = yield* makeApp
      const first = yield* credentials.put(app, ofStoreA())
      yield* TestClock.adjust("1 second")
      const replaced = yield* credentials.put(app, { ...ofStoreA(), store_a_key_id: "REPLACED01" })
      strictEqual(replaced.id, first.id)
      deepStrictEqual(replaced.createdAt, first.createdAt)
      assertTrue(DateTime.greaterThan(replaced.updatedAt, first.updatedAt))
      deepStrictEqual(yield* credentials.page(app.id, page), [replaced])
      assertSome(replaced.storeAKeyId, "REPLACED01")
    })
  )

  it.effect("holds one also of several that are stored at the same time", () =>
    Effect.gen(function* () {
      const credentials = yield* Credentials
      const keys = [p256Key(), p256Key(), p256Key(), p256Key()]
      const race = Effect.gen(function* () {
        const app = yield* makeApp
        const raced = yield* Effect.forEach(keys, (key) => credentials.put(app, ofStoreA(key)), { concurrency: 4 })
        strictEqual(new Set(raced.map(({ id }) => id)).size, 1)
        const inForce = yield* credentials.storeA(app.id, "production")
        assertTrue(Option.exists(inForce, ({ privateKey }) => keys.includes(Redacted.value(privateKey))))
      })
      yield* Effect.repeatN(race, 9)
    })
  )

  it.effect("lets production's serve the sandbox, never the sandbox's production", () =>
    Effect.gen(function* () {
      const credentials = yield* Credentials
      const [app, other] = [yield* makeApp, yield* makeApp]
      const keyOf = (environment: "production" | "sandbox", { id } = app) =>
        Effect.map(
          credentials.storeA(id, environment),
          Option.map(({ keyId }) => keyId)
        )
      yield* credentials.put(app, { ...ofStoreA(), environment: "sandbox", store_a_key_id: "SANDBOX001" })
      assertNone(yield* keyOf("production"))
      assertSome(yield* keyOf("sandbox"), "SANDBOX001")
      yield* credentials.put(app, { ...ofStoreA(), store_a_key_id: "PRODUCTION" })
      assertSome(yield* keyOf("production"), "PRODUCTION")
      assertSome(yield* keyOf("sandbox"), "SANDBOX001")
      const sandbox = (yield* credentials.page(app.id, page)).find(({ environment }) => environment === "sandbox")
      yield* credentials.remove(app.id, sandbox?.id ?? "")
      assertSome(yield* keyOf("sandbox"), "PRODUCTION")
      assertNone(yield* credentials.storeB(app.id, "production"))
      yield* credentials.put(other, { ...ofStoreA(), store_a_key_id: "PRODUCTION" })
      yield* credentials.put(other, { ...ofStoreA(), environment: "sandbox", store_a_key_id: "SANDBOX001" })
      assertSome(yield* keyOf("sandbox", other), "SANDBOX001")
    })
  )

  it.effect("stores nothing of a refused request, and removes only what is the app's", () =>
    Effect.gen(function* () {
      const credentials = yield* Credentials
      const [ours, theirs] = [yield* makeApp, yield* makeApp]
      const kept = yield* credentials.put(ours, ofStoreA())
      const refused = yield* Effect.flip(credentials.put(ours, { ...ofStoreA("junk"), store_a_key_id: "CHANGED001" }))
      deepStrictEqual(
        refused.issues.map(({ path }) => path.join(".")),
        ["store_a_private_key"]
      )
      deepStrictEqual(yield* credentials.page(ours.id, page), [kept])
      for (const id of [kept.id, yield* nextId, "nonsense"]) {
        strictEqual((yield* Effect.flip(credentials.remove(theirs.id, id)))._tag, "CredentialNotFound")
      }
      strictEqual(yield* credentials.remove(ours.id, kept.id), kept.id)
      deepStrictEqual(yield* credentials.page(ours.id, page), [])
    })
  )
})
