import { assert, describe, it, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Array, Context, Effect, Layer } from "effect"
import { type Answer, call } from "../support/Api.ts"
import * as Gatehouse from "../support/Gatehouse.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

class Program extends Context.Tag("test/Program")<Program, Gatehouse.Gatehouse>() {}

const program = Layer.scoped(
  Program,
  Effect.flatMap(TestDatabase.url, (url) => Gatehouse.serve({ DATABASE_URL: url, TRUST_PROXY: "true" }))
).pipe(Layer.orDie)

const password = "eight characters"

const post = (path: string, forwardedFor: string, body: object) =>
  Effect.flatMap(Program, ({ url }) =>
    call("POST", `${url}${path}`, { body, headers: { "x-forwarded-for": forwardedFor } })
  )

const login = (address: string, email: string, given: string, path = "/api/v1/auth/login") =>
  post(path, address, { email, password: given })

const register = (address: string, email: string) =>
  post("/api/v1/auth/register", address, { name: "Ann", email, password })

const statuses = (answers: ReadonlyArray<Answer>) => answers.map(({ status }) => status)

const isRefused = (answer: Answer) => {
  assert.strictEqual(answer.status, 429)
  assert.sameMembers(Object.keys(answer.body), ["message", "errors"])
  const seconds = Number(answer.headers.get("retry-after"))
  assert.isAtLeast(seconds, 1)
  assert.isAtMost(seconds, 60)
}

layer(program, { excludeTestServices: true })("a stranger is kept out", (it) => {
  it.effect("after five failures for one e-mail and address, also when they come at once", () =>
    Effect.gen(function* () {
      yield* register("10.1.0.1", "ann@example.com")
      const flood = yield* Effect.all(Array.replicate(login("10.1.0.1", "ann@example.com", "wrong"), 12), {
        concurrency: 12
      })
      assert.strictEqual(flood.filter(({ status }) => status === 401).length, 5)
      isRefused(yield* login("10.1.0.1", "ANN@example.com", password))
      isRefused(yield* login("10.1.0.1", "ann@example.com", "wrong", "/v1/auth/login"))
      assert.strictEqual((yield* login("10.1.0.2", "ann@example.com", password)).status, 200)
      assert.strictEqual((yield* login("10.1.0.1", "ben@example.com", password)).status, 401)
    })
  )

  it.effect("after thirty failures of one address, and no address is made up by the caller", () =>
    Effect.gen(function* () {
      yield* register("10.2.0.1", "cleo@example.com")
      const guesses = yield* Effect.forEach(Array.range(1, 29), (n) =>
        login(`192.0.2.${n}, 10.2.0.1:${4000 + n}`, `guess${n}@example.com`, "wrong")
      )
      deepStrictEqual(statuses(guesses), Array.replicate(401, 29))
      assert.strictEqual((yield* register("10.2.0.1", "cleo@example.com")).status, 422)
      isRefused(yield* login("10.2.0.1", "cleo@example.com", password))
      isRefused(yield* register("10.2.0.1", "new@example.com"))
      assert.strictEqual((yield* login("10.2.0.2", "cleo@example.com", password)).status, 200)
      const metrics = yield* Effect.flatMap(Program, ({ url }) => call("GET", `${url}/metrics`))
      assert.match(metrics.body, /gatehouse_security_events_total\{kind="failed_login"\} \d\d/)
    })
  )

  it.effect("but whoever knows the password is never counted", () =>
    Effect.gen(function* () {
      yield* register("10.3.0.1", "dora@example.com")
      const logins = yield* Effect.all(Array.replicate(login("10.3.0.1", "dora@example.com", password), 40), {
        concurrency: 10
      })
      deepStrictEqual(statuses(logins), Array.replicate(200, 40))
    })
  )

  it.effect("and input that nobody can have registered with is told so, quickly", () =>
    Effect.gen(function* () {
      const long = yield* login("10.4.0.1", `a@${"a".repeat(500_000)}@`, "x".repeat(2000))
      deepStrictEqual(Object.keys(long.body.errors), ["email", "password"])
      const nul = yield* login("10.4.0.1", "a\u0000@example.com", "x")
      deepStrictEqual(Object.keys(nul.body.errors), ["email"])
      const huge = yield* register("10.4.0.1", `a@${"a".repeat(500_000)}@`)
      deepStrictEqual(Object.keys(huge.body.errors), ["email"])
    })
  )

  it.effect("and the reference says who may fail at what", () =>
    Effect.gen(function* () {
      const { url } = yield* Program
      const { body } = yield* call("GET", `${url}/api/v1/openapi.json`)
      const table = [
        ["post", "/auth/register", [201, 400, 403, 413, 415, 422, 429, 503]],
        ["post", "/auth/login", [200, 400, 401, 413, 415, 422, 429, 503]],
        ["get", "/auth/me", [200, 401, 403, 503]],
        ["post", "/auth/logout", [200, 401, 403, 503]],
        ["get", "/auth/tokens", [200, 400, 401, 403, 422, 503]],
        ["post", "/auth/tokens", [201, 400, 401, 403, 413, 415, 422, 503]],
        ["delete", "/auth/tokens/{token}", [200, 401, 403, 404, 503]],
        ["get", "/tenants", [200, 400, 401, 403, 422, 503]],
        ["post", "/tenants", [201, 400, 401, 403, 413, 415, 422, 503]],
        ["get", "/tenants/{tenant}", [200, 401, 403, 404, 503]],
        ["patch", "/tenants/{tenant}", [200, 400, 401, 403, 404, 413, 415, 422, 503]],
        ["delete", "/tenants/{tenant}", [200, 401, 403, 404, 409, 503]],
        ["get", "/tenants/{tenant}/members", [200, 400, 401, 403, 404, 422, 503]],
        ["post", "/tenants/{tenant}/members", [201, 400, 401, 403, 404, 409, 413, 415, 422, 503]],
        ["patch", "/tenants/{tenant}/members/{user}", [200, 400, 401, 403, 404, 409, 413, 415, 422, 503]],
        ["delete", "/tenants/{tenant}/members/{user}", [200, 401, 403, 404, 409, 503]]
      ] as const
      for (const [method, path, expected] of table) {
        const operation = body.paths[`/api/v1${path}`][method]
        assert.isString(operation.summary)
        deepStrictEqual(Object.keys(operation.responses).map(Number).toSorted(), [...expected], `${method} ${path}`)
      }
      for (const name of ["User", "Tenant", "Member", "Token"]) {
        assert.isNotEmpty(body.components.schemas[name].examples, name)
      }
    })
  )
})

describe("a closed program", () => {
  it.live("takes no registrations beside its first operator", () =>
    Effect.gen(function* () {
      const { url } = yield* Gatehouse.serve({ DATABASE_URL: yield* TestDatabase.url, REGISTRATION: "closed" })
      const refused = yield* call("POST", `${url}/api/v1/auth/register`, {
        body: { name: "Ann", email: "ann@example.com", password }
      })
      assert.strictEqual(refused.status, 403)
      const { body } = yield* call("POST", `${url}/api/v1/auth/login`, {
        body: { email: Gatehouse.secrets.OPERATOR_EMAIL, password: Gatehouse.secrets.OPERATOR_PASSWORD }
      })
      const made = yield* call("POST", `${url}/api/v1/tenants`, { token: body.data.token, body: { name: "Second" } })
      assert.strictEqual(made.status, 201)
    }).pipe(Effect.scoped)
  )
})
