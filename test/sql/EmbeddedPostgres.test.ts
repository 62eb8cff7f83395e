import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Duration, Effect, Layer, Redacted, Scope } from "effect"
import { DatabaseAddress } from "../../src/sql/Database.ts"
import * as Database from "../../src/sql/Database.ts"
import * as EmbeddedPostgres from "../../src/sql/EmbeddedPostgres.ts"
import { directory, eventually } from "./Owner.ts"

const on = (dataDir: string, options: { readonly visitor?: boolean; readonly durable?: boolean } = {}) =>
  Database.layer.pipe(
    Layer.provideMerge(EmbeddedPostgres.layer({ dataDir, maxConnections: 4, durable: false, ...options })),
    Layer.fresh
  )

const pidFile = (dataDir: string) => join(dataDir, "postgres", "cluster", "postmaster.pid")
const pidOf = (dataDir: string) => Number(readFileSync(pidFile(dataDir), "utf8").split("\n")[0])

const write = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE notes (body text)`
  yield* sql`INSERT INTO notes VALUES ('kept')`
})

const read = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* sql`SELECT body FROM notes`
})

/** Tried again because a busy machine is slow for a moment; what takes too long takes it each time. */
const attempts = 4

describe("the embedded database", () => {
  it.scopedLive("is made on the first start, within 15 seconds, and found again on the second, within 3", () =>
    Effect.gen(function* () {
      const starts = Effect.gen(function* () {
        const dataDir = join(yield* directory, "data")
        const [first] = yield* Effect.timed(Effect.provide(write, on(dataDir)))
        assert.isFalse(existsSync(pidFile(dataDir)), "it is stopped with the program")
        const [second, rows] = yield* Effect.timed(Effect.provide(read, on(dataDir)))
        deepStrictEqual(rows, [{ body: "kept" }])
        return { first: Duration.toSeconds(first), second: Duration.toSeconds(second) }
      })
      const isInTime = ({ first, second }: Effect.Effect.Success<typeof starts>) => first < 15 && second < 3
      const seconds = yield* Effect.repeat(starts, { times: attempts, until: isInTime })
      assert.isTrue(isInTime(seconds), JSON.stringify(seconds))
    })
  )

  it.scopedLive("is started again when it dies, and the pool goes on", () =>
    Effect.gen(function* () {
      const dataDir = yield* directory
      const rows = yield* Effect.gen(function* () {
        yield* write
        const dead = pidOf(dataDir)
        process.kill(dead, "SIGKILL")
        yield* eventually(Effect.sync(() => assert.notStrictEqual(pidOf(dataDir), dead)))
        return yield* eventually(read)
      }).pipe(Effect.provide(on(dataDir, { durable: true })))
      deepStrictEqual(rows, [{ body: "kept" }])
      assert.isFalse(existsSync(pidFile(dataDir)), "the second server is stopped with the program too")
    })
  )

  it.scopedLive("is not confused by a process that has the id of a server long gone", () =>
    Effect.gen(function* () {
      const dataDir = yield* directory
      yield* Effect.provide(write, on(dataDir))
      const cluster = join(dataDir, "postgres", "cluster")
      writeFileSync(
        pidFile(dataDir),
        [process.pid, cluster, 1, 5432, join(dataDir, "postgres"), "", "  1 1", "ready", ""].join("\n"),
        { mode: 0o644 }
      )
      deepStrictEqual(yield* Effect.provide(read, on(dataDir)), [{ body: "kept" }])
    })
  )

  it.scopedLive("lives in a directory whose path is too long for a socket", () =>
    Effect.gen(function* () {
      const outer = yield* Effect.scope
      const dataDir = join(yield* directory, "a directory with, a 'strange' name".repeat(4))
      yield* Effect.gen(function* () {
        const { url } = yield* DatabaseAddress
        const socket = new URL(Redacted.value(url)).searchParams.get("host") ?? ""
        yield* Scope.addFinalizer(
          outer,
          Effect.sync(() => rmSync(socket, { recursive: true, force: true }))
        )
        assert.isFalse(socket.startsWith(dataDir))
        yield* write
      }).pipe(Effect.provide(on(dataDir)))
      deepStrictEqual(yield* Effect.provide(read, on(dataDir)), [{ body: "kept" }])
    })
  )

  it.scopedLive("refuses a second owner in one line, and lets a visitor in", () =>
    Effect.gen(function* () {
      const dataDir = yield* directory
      yield* Effect.gen(function* () {
        yield* write
        const refusal = yield* Effect.flip(Effect.provide(read, on(dataDir)))
        assert.strictEqual(refusal._tag, "EmbeddedPostgresFailed")
        assert.match(refusal.message, /^another Gatehouse already runs on .+ another DATA_DIR$/)
        deepStrictEqual(yield* Effect.provide(read, on(dataDir, { visitor: true })), [{ body: "kept" }])
        deepStrictEqual(yield* read, [{ body: "kept" }], "neither has stopped it")
      }).pipe(Effect.provide(on(dataDir)))
    })
  )

  it.scopedLive("says in one line that a cluster belongs to another version", () =>
    Effect.gen(function* () {
      const dataDir = yield* directory
      yield* Effect.provide(write, on(dataDir))
      writeFileSync(join(dataDir, "postgres", "cluster", "PG_VERSION"), "12\n")
      const refusal = yield* Effect.flip(Effect.provide(read, on(dataDir)))
      assert.match(refusal.message, /belongs to PostgreSQL 12, this program carries \d+/)
    })
  )

  it.scopedLive("says in one line that its directory cannot be made", () =>
    Effect.gen(function* () {
      const file = join(yield* directory, "file")
      writeFileSync(file, "")
      const refusal = yield* Effect.flip(Effect.provide(read, on(join(file, "data"))))
      assert.strictEqual(refusal._tag, "EmbeddedPostgresFailed")
      assert.match(refusal.message, /^the embedded database cannot use .+/)
      assert.notInclude(refusal.message, "\n")
    })
  )
})
