import { createServer } from "node:net"
import { SqlClient } from "@effect/sql"
import { assert, describe, it, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect, Exit, Fiber, Layer, Option, Redacted } from "effect"
import { DatabaseAddress, DatabasePool } from "../../src/sql/Database.ts"
import * as Database from "../../src/sql/Database.ts"
import { sqlConstraint } from "../../src/sql/SqlViolation.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

const endOthers = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'gatehouse'`

const unreachable = (url: string) =>
  Effect.flip(
    Layer.build(
      Database.layer.pipe(
        Layer.provide(
          Layer.succeed(DatabaseAddress, { url: Redacted.make(url), maxConnections: 1, origin: "external" as const })
        ),
        Layer.fresh
      )
    )
  )

layer(TestDatabase.layer)("the pool", (it) => {
  it.effect("answers counts as numbers, rows in camel case and jsonb as it is", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql`SELECT 9007199254740991::int8 AS big_count, '{"snake_case": 1}'::jsonb AS some_json`
      deepStrictEqual(rows, [{ bigCount: 9007199254740991, someJson: { snake_case: 1 } }])
    })
  )

  it.scoped("recovers from the loss of its connections, idle and busy", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const pool = yield* DatabasePool
      const checkedOut = yield* Effect.acquireRelease(
        Effect.promise(() => pool.connect()),
        (client) => Effect.sync(() => client.release(true))
      )
      const busy = yield* Effect.fork(Effect.flip(sql`SELECT pg_sleep(30)`))
      const inTransaction = yield* Effect.fork(sql.withTransaction(sql`SELECT pg_sleep(30)`))
      yield* sql`
        SELECT 1 FROM pg_stat_activity
        WHERE datname = current_database() AND state = 'active' AND query LIKE 'SELECT pg_sleep%'`.pipe(
        Effect.repeat({ until: (rows) => rows.length >= 2 })
      )
      yield* sql.unsafe(endOthers)
      assert.strictEqual((yield* Fiber.join(busy))._tag, "SqlError")
      assert.isTrue(Exit.isFailure(yield* Fiber.await(inTransaction)))
      assert.isTrue(yield* Effect.isFailure(Effect.tryPromise(() => checkedOut.query("SELECT 1"))))
      deepStrictEqual(yield* Effect.retry(sql`SELECT 1 AS one`, { times: 10 }), [{ one: 1 }])
      assert.strictEqual((yield* Effect.promise(() => pool.query("SELECT 1"))).rowCount, 1)
    })
  )

  it.effect("begins a transaction with its first statement, and none without statements", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const statement = sql`SELECT pg_current_xact_id()::text AS xid, now()::text AS began`
      const [first, second] = yield* sql.withTransaction(Effect.all([statement, statement]))
      deepStrictEqual(first, second)
      assert.notStrictEqual((yield* statement)[0]?.["xid"], first[0]?.["xid"])
      yield* sql.withTransaction(Effect.void)
      yield* sql.withTransaction(Effect.fail("no")).pipe(Effect.ignore)

      yield* sql`CREATE TABLE begun (id int)`
      const insert = sql`INSERT INTO begun VALUES (1)`
      const nonsense = sql`SELECT FROM nowhere`
      yield* sql.withTransaction(Effect.zipRight(insert, nonsense)).pipe(Effect.ignore)
      yield* sql.withTransaction(Effect.zipRight(nonsense, insert)).pipe(Effect.ignore)
      yield* sql.withTransaction(Effect.zipRight(insert, Effect.fail("no"))).pipe(Effect.ignore)
      const inner = sql.withTransaction(Effect.zipRight(insert, Effect.fail("no"))).pipe(Effect.ignore)
      yield* sql.withTransaction(Effect.zipRight(inner, insert))
      deepStrictEqual(yield* sql`SELECT count(*) FROM begun`, [{ count: 1 }])
    })
  )

  it.effect("names the constraint of a unique violation, and of nothing else", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE named (id int CONSTRAINT named_once UNIQUE CHECK (id > 0))`
      yield* sql`INSERT INTO named VALUES (1)`
      const twice = yield* Effect.flip(sql`INSERT INTO named VALUES (1)`)
      const negative = yield* Effect.flip(sql`INSERT INTO named VALUES (-1)`)
      const nonsense = yield* Effect.flip(sql`SELECT FROM nowhere`)
      deepStrictEqual(sqlConstraint(twice), Option.some("named_once"))
      deepStrictEqual(sqlConstraint(negative), Option.none())
      deepStrictEqual(sqlConstraint(nonsense), Option.none())
    })
  )
})

describe("a database that cannot be used", () => {
  it.scoped("is told in one line", () =>
    Effect.gen(function* () {
      const port = yield* Effect.async<number>((resume) => {
        const server = createServer().listen(0, "127.0.0.1", () => {
          const address = server.address()
          server.close(() => resume(Effect.succeed(typeof address === "object" ? (address?.port ?? 0) : 0)))
        })
      })
      const refused = yield* unreachable(`postgres://somebody:secret@localhost:${port}/nothing`)
      assert.match(refused.message, /^the database cannot be reached: connect ECONNREFUSED .+$/)
      const wrong = yield* unreachable("postgres://somebody:secret@localhost:99999/nothing")
      assert.notInclude(wrong.message, "secret")
    })
  )
})
