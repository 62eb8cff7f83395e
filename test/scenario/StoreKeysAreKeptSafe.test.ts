import { layer } from "@effect/vitest"
import { assertFalse, assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Context, Effect, Layer } from "effect"
import { Client } from "pg"
import { call } from "../support/Api.ts"
import * as Gatehouse from "../support/Gatehouse.ts"
import { makeApp } from "../support/Story.ts"
import { p256Key, rsaKey, serviceAccountFile } from "../support/StoreKeys.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

class Program extends Context.Tag("test/Program")<Program, Gatehouse.Gatehouse & { readonly databaseUrl: string }>() {}

const program = Layer.scoped(
  Program,
  Effect.gen(function* () {
    const databaseUrl = yield* TestDatabase.url
    return { ...(yield* Gatehouse.serve({ DATABASE_URL: databaseUrl })), databaseUrl }
  })
).pipe(Layer.orDie)

const storeA = {
  platform: "store_a",
  store_a_issuer_id: "57246542-96fe-1a63-e053-0824d011072a",
  store_a_key_id: "2X9R4HXF34",
  store_a_private_key: p256Key()
}

const storeB = {
  platform: "store_b",
  environment: "sandbox",
  store_b_package_name: "com.example.notes",
  store_b_service_account_json: serviceAccountFile(rsaKey())
}

const team = Effect.gen(function* () {
  const { url } = yield* Program
  const app = yield* makeApp(url, "http://127.0.0.1:1/hook")
  return { ...app, url, credentials: `${url}/api/v1/apps/${app.id}/credentials` }
})

const setRole = (databaseUrl: string, appId: string, role: string) =>
  Effect.promise(async () => {
    const client = new Client({ connectionString: databaseUrl })
    await client.connect()
    await client.query(
      "UPDATE memberships SET role = $1 WHERE tenant_id = (SELECT tenant_id FROM apps WHERE id = $2)",
      [role, appId]
    )
    await client.end()
  })

layer(program, { excludeTestServices: true })("the stores' keys are kept safe", (it) => {
  it.effect("stored, replaced, listed and removed, and never shown again", () =>
    Effect.gen(function* () {
      const { credentials, token } = yield* team
      const { output } = yield* Program
      const first = yield* call("POST", credentials, { token, body: storeA })
      strictEqual(first.status, 201)
      const { created_at, updated_at, uuid, ...shown } = first.body.data
      deepStrictEqual(shown, {
        platform: "store_a",
        environment: "production",
        store_a_issuer_id: storeA.store_a_issuer_id,
        store_a_key_id: storeA.store_a_key_id,
        store_a_bundle_id: null,
        store_b_package_name: null,
        store_b_client_email: null,
        has_private_key: true,
        has_service_account: false
      })
      strictEqual(created_at, updated_at)
      const second = yield* call("POST", credentials, { token, body: storeB })
      strictEqual(second.body.data.has_service_account, true)
      strictEqual(second.body.data.store_b_client_email, "gatehouse@notes.iam.gserviceaccount.com")

      const replaced = yield* call("POST", credentials, {
        token,
        body: { ...storeA, environment: "production", store_a_key_id: "ANOTHER001", store_a_bundle_id: "com.example.x" }
      })
      strictEqual(replaced.status, 201)
      strictEqual(replaced.body.data.uuid, uuid)
      strictEqual(replaced.body.data.created_at, created_at)
      assertTrue(replaced.body.data.updated_at > updated_at)

      const page = yield* call("GET", `${credentials}?limit=1`, { token })
      const rest = yield* call("GET", `${credentials}?limit=1&cursor=${page.body.next_cursor}`, { token })
      deepStrictEqual([...page.body.data, ...rest.body.data], [second.body.data, replaced.body.data])

      const removed = yield* call("DELETE", `${credentials}/${uuid}`, { token })
      deepStrictEqual(removed.body, { data: { uuid, deleted: true } })
      strictEqual((yield* call("DELETE", `${credentials}/${uuid}`, { token })).status, 404)
      const left = yield* call("GET", credentials, { token })
      deepStrictEqual(left.body.data, [second.body.data])

      const told = JSON.stringify([first.body, second.body, replaced.body, left.body]) + output()
      for (const secret of [storeA.store_a_private_key, JSON.parse(storeB.store_b_service_account_json).private_key]) {
        assertFalse(told.includes(secret.split("\n")[1]))
      }
    })
  )

  it.effect("refused with every failing field, and nothing is stored", () =>
    Effect.gen(function* () {
      const { credentials, token } = yield* team
      const internal = serviceAccountFile(rsaKey(), { token_uri: "http://169.254.169.254/token" })
      const cases: ReadonlyArray<readonly [unknown, ReadonlyArray<string>]> = [
        [{}, ["platform"]],
        [{ platform: "store_c", environment: "staging" }, ["environment", "platform"]],
        [{ platform: "store_a" }, ["store_a_issuer_id", "store_a_key_id", "store_a_private_key"]],
        [{ platform: "store_b" }, ["store_b_package_name", "store_b_service_account_json"]],
        [{ ...storeA, environment: "staging", store_a_key_id: "short" }, ["environment", "store_a_key_id"]],
        [{ ...storeA, store_a_private_key: rsaKey() }, ["store_a_private_key"]],
        [{ ...storeA, store_b_package_name: "com.example.notes" }, ["store_b_package_name"]],
        [{ ...storeB, store_b_service_account_json: internal }, ["store_b_service_account_json"]],
        [{ ...storeB, store_b_service_account_json: { private_key: "x" } }, ["store_b_service_account_json"]]
      ]
      for (const [body, fields] of cases) {
        const answer = yield* call("POST", credentials, { token, body })
        strictEqual(answer.status, 422)
        deepStrictEqual(Object.keys(answer.body.errors).sort(), fields)
      }
      strictEqual((yield* call("POST", credentials, { token, body: [storeA] })).status, 422)
      const lacking = yield* call("POST", credentials, {
        token,
        body: { ...storeB, store_b_service_account_json: "{}" }
      })
      strictEqual(lacking.body.errors.store_b_service_account_json.length, 3)
      deepStrictEqual((yield* call("GET", credentials, { token })).body.data, [])
      strictEqual((yield* call("GET", `${credentials}?cursor=nonsense`, { token })).status, 400)
      strictEqual((yield* call("GET", `${credentials}?limit=0`, { token })).status, 422)
    })
  )

  it.effect("open to the app's owners and admins, whose token may", () =>
    Effect.gen(function* () {
      const { databaseUrl } = yield* Program
      const ours = yield* team
      const theirs = yield* team
      const stored = yield* call("POST", ours.credentials, { token: ours.token, body: storeA })
      const one = `${ours.credentials}/${stored.body.data.uuid}`
      const statuses = (token?: string) =>
        Effect.all([
          Effect.map(call("GET", ours.credentials, { token }), ({ status }) => status),
          Effect.map(call("POST", ours.credentials, { token, body: storeA }), ({ status }) => status),
          Effect.map(call("DELETE", `${ours.credentials}/nonsense`, { token }), ({ status }) => status)
        ])
      const tokenFor = (...abilities: ReadonlyArray<string>) =>
        Effect.map(
          call("POST", `${ours.url}/api/v1/auth/tokens`, { token: ours.token, body: { name: "t", abilities } }),
          ({ body }): string => body.data.token
        )
      const foreign = `${theirs.credentials}/${stored.body.data.uuid}`
      strictEqual((yield* call("DELETE", foreign, { token: theirs.token })).status, 404)
      strictEqual((yield* call("DELETE", one, { token: theirs.token })).status, 404)
      deepStrictEqual(yield* statuses(), [401, 401, 401])
      deepStrictEqual(yield* statuses(theirs.token), [404, 404, 404])
      deepStrictEqual(yield* statuses(yield* tokenFor("apps:write", "catalog:write")), [403, 403, 403])
      deepStrictEqual(yield* statuses(yield* tokenFor("credentials:read")), [200, 403, 403])
      deepStrictEqual(yield* statuses(yield* tokenFor("credentials:write")), [200, 201, 404])
      const roles: ReadonlyArray<readonly [string, [number, number, number]]> = [
        ["admin", [200, 201, 404]],
        ["member", [403, 403, 403]],
        ["viewer", [403, 403, 403]]
      ]
      for (const [role, expected] of roles) {
        yield* setRole(databaseUrl, ours.id, role)
        deepStrictEqual(yield* statuses(ours.token), expected)
      }
    })
  )
})
