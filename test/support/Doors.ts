import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { Client } from "pg"
import { call } from "./Api.ts"
import { addressOf, type Operation, type Valid } from "./Operations.ts"
import { Program } from "./Team.ts"

/** A checksum per table, without what reading may touch. */
export const checksums = Effect.gen(function* () {
  const { world } = yield* Program
  return yield* Effect.promise(async () => {
    const client = new Client({ connectionString: world.databaseUrl })
    await client.connect()
    const { rows: tables } = await client.query(
      "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
    )
    const sums: Record<string, unknown> = {}
    for (const { tablename } of tables) {
      const { rows } = await client.query(
        `SELECT count(*), md5(string_agg(t::text, ',' ORDER BY t::text))
         FROM (SELECT to_jsonb(r) - 'last_used_at' - 'last_seen' AS t FROM "${tablename}" r) rows`
      )
      sums[tablename] = rows[0]
    }
    await client.end()
    return sums
  })
})

/** A call that must be refused, by whom for the message. */
export const refused = Effect.fn(function* (
  operation: Operation,
  { body, query }: Valid,
  ids: Readonly<Record<string, string>>,
  attempt: {
    readonly who: string
    readonly token: string | undefined
    readonly status: number
    readonly headers?: Record<string, string>
  }
) {
  const { url } = yield* Program
  const { headers = {}, status, token, who } = attempt
  const answer = yield* call(operation.method, url + addressOf(operation, ids, query), { token, body, headers })
  const what = `${operation.id} by ${who}: ${JSON.stringify(answer.body)}`
  assert.strictEqual(answer.status, status, what)
  assert.sameMembers(Object.keys(answer.body), ["message", "errors"], what)
})

export const otherLetter = (token: string) => token.slice(0, -1) + (token.endsWith("0") ? "1" : "0")
