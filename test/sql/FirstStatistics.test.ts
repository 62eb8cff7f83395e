import { SqlClient } from "@effect/sql"
import { layer } from "@effect/vitest"
import { assertInclude, deepStrictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { takeFirstStatistics } from "../../src/sql/FirstStatistics.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import { until } from "../support/Until.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("the first statistics", (it) => {
  it.effect("are taken of what has grown, so that the whole key is looked up, and of nothing else", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE grown (app int, environment text, purchase text, UNIQUE (app, purchase))`
      yield* sql`CREATE INDEX grown_environment ON grown (app, environment)`
      yield* sql`CREATE TABLE small (app int)`
      yield* sql`INSERT INTO small VALUES (1)`
      yield* sql`INSERT INTO grown SELECT 1, 'production', n::text FROM generate_series(1, 1000) n`
      const analyzed = sql`SELECT DISTINCT tablename FROM pg_stats WHERE tablename IN ('grown', 'small')`
      yield* until(Effect.zipRight(takeFirstStatistics, analyzed), (tables) => tables.length > 0)
      deepStrictEqual(yield* analyzed, [{ tablename: "grown" }])
      const [plan] = yield* sql`
        EXPLAIN SELECT * FROM grown WHERE app = 1 AND environment = 'production' AND purchase = '7'`
      assertInclude(Object.values(plan ?? {}).join(), "grown_app_purchase_key")
    })
  )
})
