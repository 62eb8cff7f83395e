import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as TestDatabase from "./support/TestDatabase.ts"

layer(TestDatabase.layer)("database", (it) => {
  it.effect("migrates", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql`SELECT count(*) AS n FROM webhook_deliveries`
      assert.deepStrictEqual(rows, [{ n: 0 }])
    })
  )
})
