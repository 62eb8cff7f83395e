import { request } from "node:http"
import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Context, Effect, Layer } from "effect"
import { call } from "../support/Api.ts"
import * as Gatehouse from "../support/Gatehouse.ts"
import { makeApp, operatorToken } from "../support/Story.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

class Program extends Context.Tag("test/Program")<Program, Gatehouse.Gatehouse>() {}

const program = Layer.scoped(
  Program,
  Effect.flatMap(TestDatabase.url, (url) => Gatehouse.serve({ DATABASE_URL: url }))
).pipe(Layer.orDie)

const chunked = (url: string, bytes: number) =>
  Effect.async<number>((resume) => {
    const target = request(url, { method: "POST", headers: { "content-type": "application/json" } }, (response) => {
      response.resume()
      resume(Effect.succeed(response.statusCode ?? 0))
    })
    target.on("error", () => undefined)
    target.write("x".repeat(bytes / 2))
    target.write("x".repeat(bytes / 2))
    target.end()
  })

layer(program, { excludeTestServices: true })("every answer that is no success has one shape", (it) => {
  it.effect("unknown route, wrong method, bad JSON, wrong type, too large, missing fields", () =>
    Effect.gen(function* () {
      const { url } = yield* Program
      const register = `${url}/api/v1/auth/register`
      const cases = [
        [yield* call("GET", `${url}/nowhere`), 404],
        [yield* call("DELETE", `${url}/api/v1/apps`), 405],
        [yield* call("POST", register, { raw: "{", headers: { "content-type": "application/json" } }), 400],
        [yield* call("POST", register, { raw: "a=b", headers: { "content-type": "text/plain" } }), 415],
        [
          yield* call("POST", register, {
            raw: "x".repeat(1_100_000),
            headers: { "content-type": "application/json" }
          }),
          413
        ],
        [yield* call("POST", register, { body: {} }), 422],
        [yield* call("GET", `${url}/api/v1/auth/me`), 401],
        [yield* call("GET", `${url}/v1/accounts`), 401]
      ] as const
      for (const [answer, status] of cases) {
        assert.strictEqual(answer.status, status)
        assert.sameMembers(Object.keys(answer.body), ["message", "errors"])
        assert.isString(answer.headers.get("x-request-id"))
        assert.strictEqual(answer.headers.get("cache-control"), "no-store")
      }
      assert.strictEqual(cases[1][0].headers.get("allow"), "GET, POST")
      assert.strictEqual(cases[6][0].headers.get("www-authenticate"), "Bearer")
      assert.sameMembers(Object.keys(cases[5][0].body.errors), ["name", "email", "password"])
      assert.strictEqual(yield* chunked(register, 3_000_000), 413)
      const own = yield* call("GET", `${url}/healthz`, { headers: { "x-request-id": "mine-1" } })
      assert.strictEqual(own.headers.get("x-request-id"), "mine-1")
    })
  )

  it.effect("every failing field at once, by dotted path, and nothing changed", () =>
    Effect.gen(function* () {
      const { url } = yield* Program
      const app = yield* makeApp(url, "http://127.0.0.1:1/hook")
      const bad = yield* call("POST", `${url}/api/v1/apps/${app.id}/products`, {
        token: app.token,
        body: {
          store: "nowhere",
          identifier: "",
          name: "x",
          type: "subscription",
          price: -1,
          currency: "dollars",
          entitlements: ["pro", 7]
        }
      })
      assert.strictEqual(bad.status, 422)
      assert.includeMembers(Object.keys(bad.body.errors), [
        "store",
        "identifier",
        "price",
        "currency",
        "entitlements.1"
      ])
      const unknown = yield* call("POST", `${url}/api/v1/apps/${app.id}/entitlements`, {
        token: app.token,
        body: { identifier: "gold", name: "Gold", product_identifiers: ["pro.monthly", "nothing"] }
      })
      deepStrictEqual(Object.keys(unknown.body.errors), ["product_identifiers.1"])
      const list = yield* call("GET", `${url}/api/v1/apps/${app.id}/entitlements`, { token: app.token })
      assert.strictEqual(list.body.data.length, 1)
      const cursor = yield* call("GET", `${url}/api/v1/apps/${app.id}/products?cursor=nonsense&limit=5`, {
        token: app.token
      })
      assert.strictEqual(cursor.status, 400)
      const limit = yield* call("GET", `${url}/api/v1/apps/${app.id}/products?limit=1000`, { token: app.token })
      assert.strictEqual(limit.status, 422)
    })
  )

  it.effect("each credential opens its own doors only, a foreign tenant's records look absent", () =>
    Effect.gen(function* () {
      const { url } = yield* Program
      const ann = yield* makeApp(url, "http://127.0.0.1:1/hook")
      const ben = yield* makeApp(url, "http://127.0.0.1:1/hook")
      const operator = yield* operatorToken(url)
      const account = yield* call("POST", `${url}/v1/accounts`, {
        token: operator,
        body: { name: "Shop", platform: "platform_b" }
      })
      const channelToken: string = account.body.data.token
      const reader = yield* call("POST", `${url}/api/v1/auth/tokens`, {
        token: ann.token,
        body: { name: "reader", abilities: ["apps:read"] }
      })
      const reads: string = reader.body.data.token
      const doors: ReadonlyArray<readonly [string, string, ReadonlyArray<string>]> = [
        ["GET", `/api/v1/apps/${ann.id}`, [ann.token, reads]],
        ["GET", `/api/v1/client/subscribers/u1`, [ann.key, ben.key]],
        ["GET", `/v1/accounts`, [operator]],
        ["POST", `/v1/messages/text`, [channelToken]]
      ]
      const keys = [undefined, ann.token, reads, ann.key, ben.key, operator, channelToken, "gh_pat_x"]
      for (const [method, path, allowed] of doors) {
        for (const token of keys) {
          const { status } = yield* call(method, `${url}${path}`, {
            token,
            ...(method === "POST" ? { body: { to: "pb:1", body: "x" } } : {})
          })
          if (token !== undefined && allowed.includes(token)) assert.notStrictEqual(status, 401, `${path} ${token}`)
          else assert.strictEqual(status, 401, `${path} ${token}`)
        }
      }
      const foreign = [
        ["GET", `/api/v1/apps/${ann.id}`],
        ["PATCH", `/api/v1/apps/${ann.id}`],
        ["POST", `/api/v1/apps/${ann.id}/rotate-key`],
        ["GET", `/api/v1/apps/${ann.id}/products`],
        ["GET", `/api/v1/apps/${ann.id}/events`],
        ["GET", `/api/v1/apps/${ann.id}/webhooks`]
      ] as const
      for (const [method, path] of foreign) {
        const { status } = yield* call(method, `${url}${path}`, {
          token: ben.token,
          ...(method === "PATCH" ? { body: { name: "x" } } : {})
        })
        assert.strictEqual(status, 404, path)
      }
      const lacking = yield* call("PATCH", `${url}/api/v1/apps/${ann.id}`, { token: reads, body: { name: "x" } })
      assert.strictEqual(lacking.status, 403)
      const minted = yield* call("POST", `${url}/api/v1/auth/tokens`, { token: reads, body: { name: "more" } })
      assert.strictEqual(minted.status, 403)
      const rotated = yield* call("POST", `${url}/api/v1/apps/${ann.id}/rotate-key`, { token: ann.token })
      assert.strictEqual((yield* call("GET", `${url}/api/v1/client/subscribers/u1`, { token: ann.key })).status, 401)
      const key: string = rotated.body.data.public_api_key
      assert.strictEqual((yield* call("GET", `${url}/api/v1/client/subscribers/u1`, { token: key })).status, 200)
      yield* call("PATCH", `${url}/api/v1/apps/${ann.id}`, { token: ann.token, body: { status: "paused" } })
      assert.strictEqual((yield* call("GET", `${url}/api/v1/client/subscribers/u1`, { token: key })).status, 403)
      yield* call("POST", `${url}/v1/auth/logout`, { token: operator })
      assert.strictEqual((yield* call("GET", `${url}/v1/accounts`, { token: operator })).status, 401)
    })
  )

  it.effect("logins are throttled by failures, and a second registration is told at its field", () =>
    Effect.gen(function* () {
      const { url } = yield* Program
      const login = (password: string) =>
        call("POST", `${url}/api/v1/auth/login`, { body: { email: "eve@example.com", password } })
      yield* call("POST", `${url}/api/v1/auth/register`, {
        body: { name: "Eve", email: "eve@example.com", password: "right password" }
      })
      const again = yield* call("POST", `${url}/api/v1/auth/register`, {
        body: { name: "Eve", email: "EVE@example.com", password: "right password" }
      })
      deepStrictEqual(Object.keys(again.body.errors), ["email"])
      assert.strictEqual((yield* login("right password")).status, 200)
      for (let attempt = 0; attempt < 5; attempt++) assert.strictEqual((yield* login("wrong")).status, 401)
      const limited = yield* login("right password")
      assert.strictEqual(limited.status, 429)
      assert.isAbove(Number(limited.headers.get("retry-after")), 0)
    })
  )

  it.effect("the operational routes and both documents are served", () =>
    Effect.gen(function* () {
      const { url } = yield* Program
      for (const path of ["/healthz", "/readyz", "/api/v1/health"])
        assert.strictEqual((yield* call("GET", `${url}${path}`)).status, 200)
      const management = yield* call("GET", `${url}/api/v1/openapi.json`)
      const gateway = yield* call("GET", `${url}/v1/openapi.json`)
      assert.property(management.body.paths, "/api/v1/stores/store_a/notifications/{app}")
      assert.property(gateway.body.paths, "/v1/messages/text")
      const docs = yield* call("GET", `${url}/docs`)
      assert.notMatch(docs.body, /<(script|link)[^>]+(src|href)="https?:/)
      const metrics = yield* call("GET", `${url}/metrics`)
      assert.match(metrics.body, /gatehouse_http_responses_total\{status="200"\} \d+/)
    })
  )
})
