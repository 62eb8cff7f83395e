import { mkdtempSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { type Answer, call } from "../support/Api.ts"
import * as Gatehouse from "../support/Gatehouse.ts"
import { eventually } from "../support/Story.ts"

const postmaster = (dataDir: string) =>
  Number(readFileSync(join(dataDir, "postgres/cluster/postmaster.pid"), "utf8").split("\n")[0])

describe("while the database is away", () => {
  it.live(
    "every call is answered in the one shape, and what was answered with success is there afterwards",
    () =>
      Effect.gen(function* () {
        const dataDir = mkdtempSync(join(tmpdir(), "gatehouse-away-"))
        const { url } = yield* Gatehouse.serve({ DATA_DIR: dataDir })
        const { body } = yield* call("POST", `${url}/api/v1/auth/register`, {
          body: { name: "Ann", email: "ann@example.com", password: "eight characters" }
        })
        const token: string = body.data.token
        const apps = `${url}/api/v1/apps`
        const app = yield* call("POST", apps, { token, body: { name: "First" } })
        const phone = { token: app.body.data.public_api_key }
        const read = call("GET", `${url}/api/v1/client/subscribers/ann`, phone)
        yield* read
        const reads: Array<Answer> = []
        const answers: Array<Answer> = [app]
        const create = (nth: number) =>
          call("POST", apps, {
            token,
            body: { name: `App ${nth}` },
            ...(nth % 2 === 0 ? { headers: { "idempotency-key": `k${nth}` } } : {})
          })
        const wasAway = () => answers.some(({ status }) => status !== 201)
        const calls = Effect.iterate(0, {
          while: () => !wasAway() || answers.at(-1)?.status !== 201,
          body: (nth) =>
            Effect.map(Effect.all([create(nth), read], { concurrency: 2 }), ([answer, seen]) => {
              answers.push(answer)
              reads.push(seen)
              return nth + 1
            })
        }).pipe(Effect.timeout("120 seconds"))
        process.kill(postmaster(dataDir), "SIGKILL")
        yield* calls

        for (const { body, headers, status } of [...answers, ...reads]) {
          assert.include([200, 201, 503], status)
          if (status < 300) continue
          assert.sameMembers(Object.keys(body), ["message", "errors"])
          assert.isAbove(Number(headers.get("retry-after")), 0)
          assert.isString(headers.get("x-request-id"))
        }
        const created = answers.filter(({ status }) => status === 201).map(({ body }) => body.data.uuid)
        const listed = yield* eventually(
          Effect.map(call("GET", `${apps}?limit=100`, { token }), ({ body, status }) =>
            status === 200 ? body.data.map(({ uuid }: { uuid: string }) => uuid) : undefined
          ),
          "the list"
        )
        deepStrictEqual(listed.toSorted(), created.toSorted())
      }).pipe(Effect.scoped),
    240_000
  )
})
