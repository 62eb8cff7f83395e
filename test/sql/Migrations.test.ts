import { SqlClient } from "@effect/sql"
import { assert, describe, it, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Array, Effect, Layer, Redacted } from "effect"
import { DatabaseAddress } from "../../src/sql/Database.ts"
import * as Database from "../../src/sql/Database.ts"
import { migrate } from "../../src/sql/Migrations.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

const at = (url: string) =>
  Database.layer.pipe(
    Layer.provide(
      Layer.succeed(DatabaseAddress, { url: Redacted.make(url), maxConnections: 1, origin: "external" as const })
    ),
    Layer.fresh
  )

layer(TestDatabase.layer)("a test's database", (it) => {
  it.effect("is migrated", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql`SELECT count(*) AS n FROM webhook_deliveries`
      deepStrictEqual(rows, [{ n: 0 }])
    })
  )

  it.effect("has nothing left to apply", () =>
    Effect.gen(function* () {
      deepStrictEqual(yield* migrate, [])
    })
  )
})

describe("migrate", () => {
  it.scoped("is done by one of several programs that start at once, with one connection each", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.url
      const applied = yield* Effect.all(
        Array.makeBy(5, () => Effect.provide(migrate, at(url))),
        { concurrency: 5 }
      )
      deepStrictEqual(
        Array.filter(applied, (migrations) => migrations.length > 0).map((migrations) => migrations.map(([id]) => id)),
        [[1, 2, 3, 4, 5, 6, 7, 8, 12, 13]]
      )
    })
  )

  it.scoped("changes nothing when it fails, and says why in one line", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.url
      const [error, tables] = yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`CREATE VIEW schema_migrations AS SELECT 1 AS migration_id, 'x' AS name`
        const error = yield* Effect.flip(migrate)
        const tables = yield* sql`SELECT 1 FROM pg_tables WHERE schemaname = 'public'`
        return [error, tables] as const
      }).pipe(Effect.provide(at(url)))
      assert.match(error.message, /^the database cannot be brought up to date: .+$/)
      deepStrictEqual(tables, [])
    })
  )
})
