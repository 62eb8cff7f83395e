import { describe, it } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Array, Effect } from "effect"
import { call } from "../support/Api.ts"
import * as Gatehouse from "../support/Gatehouse.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

const guess = (url: string, email: string, password = "wrong") =>
  Effect.map(call("POST", `${url}/api/v1/auth/login`, { body: { email, password } }), ({ status }) => status)

const redis = process.env["REDIS_URL"]

describe("two programs on one database", () => {
  it.live(
    redis === undefined ? "without Redis count failed logins each for itself" : "count failed logins together in Redis",
    () =>
      Effect.gen(function* () {
        const env = { DATABASE_URL: yield* TestDatabase.url, ...(redis === undefined ? {} : { REDIS_URL: redis }) }
        const [one, other] = [yield* Gatehouse.serve(env), yield* Gatehouse.serve(env)]
        const email = `ann${crypto.randomUUID()}@example.com`
        yield* call("POST", `${one.url}/api/v1/auth/register`, {
          body: { name: "Ann", email, password: "eight characters" }
        })
        const failures = yield* Effect.forEach(Array.range(1, 5), (nth) =>
          guess(nth % 2 === 0 ? one.url : other.url, email)
        )
        deepStrictEqual(failures, [401, 401, 401, 401, 401])
        strictEqual(yield* guess(one.url, email, "eight characters"), redis === undefined ? 200 : 429)
        strictEqual(yield* guess(other.url, email, "eight characters"), redis === undefined ? 200 : 429)
      }).pipe(Effect.scoped),
    240_000
  )
})
