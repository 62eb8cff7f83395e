import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync
} from "node:fs"
import { join } from "node:path"
import { Client } from "pg"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { directory, eventually, install, start } from "./Owner.ts"
import type { Owner } from "./Owner.ts"

const isRoot = process.getuid?.() === 0
const nobody = { uid: 65_534, gid: 65_534 }

const pidOf = (dataDir: string) =>
  Number(readFileSync(join(dataDir, "postgres", "cluster", "postmaster.pid"), "utf8").split("\n")[0])

const isGone = (pid: number) =>
  Effect.try(() => process.kill(pid, 0)).pipe(
    Effect.isFailure,
    Effect.filterOrFail((gone) => gone)
  )

const ask = (owner: Owner, statement: string) =>
  Effect.promise(async () => {
    assert.match(owner.firstLine, /^ready /, owner.output())
    const client = new Client({ connectionString: owner.firstLine.slice("ready ".length) })
    await client.connect()
    const { rows } = await client.query(statement)
    await client.end()
    return rows
  })

const giveTo = (path: string, { uid, gid }: typeof nobody) => {
  chownSync(path, uid, gid)
  for (const entry of readdirSync(path, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink()) chownSync(join(entry.parentPath, entry.name), uid, gid)
  }
}

const removeLinks = (path: string) => {
  for (const entry of readdirSync(path, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) rmSync(join(entry.parentPath, entry.name))
  }
}

/** Finalizers run after the program that was started later ends, and before its own directory goes. */
const removeElsewhere = (dataDir: string) => {
  const server = realpathSync(join(dataDir, "postgres"))
  return Effect.addFinalizer(() => Effect.sync(() => rmSync(server, { recursive: true, force: true })))
}

describe("a program with an embedded database", () => {
  it.scopedLive("leaves it running when it is killed, and the next one takes it over", () =>
    Effect.gen(function* () {
      const at = yield* directory
      const file = yield* install(at, { withPackage: true })
      const dataDir = join(at, "data")
      const first = yield* start(file, dataDir)
      yield* ask(first, "CREATE TABLE notes AS SELECT 'kept' AS body")
      const server = pidOf(dataDir)
      yield* first.kill("SIGKILL")

      const second = yield* start(file, dataDir)
      deepStrictEqual(yield* ask(second, "SELECT body FROM notes"), [{ body: "kept" }])
      assert.strictEqual(pidOf(dataDir), server, "the same server goes on")

      process.kill(server, "SIGKILL")
      const rows = yield* eventually(ask(second, "SELECT body FROM notes"))
      deepStrictEqual(rows, [{ body: "kept" }], "an adopted server is supervised as well")
      const restarted = pidOf(dataDir)
      yield* second.kill("SIGTERM")
      yield* eventually(isGone(restarted))
      assert.isFalse(existsSync(join(dataDir, "postgres", "cluster", "postmaster.pid")))
    })
  )

  it.scopedLive("is one of two that start at once on an empty directory", () =>
    Effect.gen(function* () {
      const at = yield* directory
      const file = yield* install(at, { withPackage: true })
      const dataDir = join(at, "data")
      const both = yield* Effect.all([start(file, dataDir), start(file, dataDir)], { concurrency: 2 })
      const words = both.map(({ firstLine }) => firstLine.split(" ")[0]).sort()
      deepStrictEqual(words, ["ready", "refused"], both.map(({ output }) => output()).join("\n"))
      assert.match(both.map(({ firstLine }) => firstLine).join("\n"), /refused another Gatehouse already runs on/)
    })
  )

  it.scopedLive("says that DATABASE_URL must be set where there is no package for the system", () =>
    Effect.gen(function* () {
      const at = yield* directory
      const owner = yield* start(yield* install(at, { withPackage: false }), join(at, "data"))
      assert.match(owner.firstLine, /^refused there is no embedded PostgreSQL for .+: set DATABASE_URL/)
    })
  )

  it.skipIf(!isRoot)("runs as root with a server that is not, also where only root may enter", () =>
    Effect.gen(function* () {
      const home = join(yield* directory, "home")
      mkdirSync(home, { mode: 0o700 })
      const file = yield* install(home, { withPackage: true })
      const dataDir = join(home, "data")
      const owner = yield* start(file, dataDir)
      yield* removeElsewhere(dataDir)
      yield* ask(owner, "CREATE TABLE notes AS SELECT 'kept' AS body")
      assert.match(owner.output(), /the database is in \/var\/lib\/gatehouse\/data-/)
      assert.isTrue(lstatSync(join(dataDir, "postgres")).isSymbolicLink())
      assert.notStrictEqual(lstatSync(realpathSync(join(dataDir, "postgres"))).uid, 0)
      yield* owner.kill("SIGTERM")

      const again = yield* start(file, dataDir)
      deepStrictEqual(yield* ask(again, "SELECT body FROM notes"), [{ body: "kept" }])
      yield* again.kill("SIGTERM")

      rmSync(dataDir, { recursive: true })
      const anew = yield* start(file, dataDir)
      yield* removeElsewhere(dataDir)
      deepStrictEqual(yield* ask(anew, "SELECT 1 FROM pg_tables WHERE tablename = 'notes'"), [])
      yield* anew.kill("SIGTERM")
    }).pipe(Effect.scoped, Effect.runPromise)
  )

  it.skipIf(!isRoot)("runs as an ordinary user, also where the package's links were never made", () =>
    Effect.gen(function* () {
      const at = yield* directory
      const file = yield* install(at, { withPackage: true })
      removeLinks(join(at, "node_modules"))
      giveTo(at, nobody)
      chmodSync(at, 0o755)
      const owner = yield* start(file, join(at, "data"), nobody)
      const rows = yield* ask(owner, "SELECT current_user AS name")
      deepStrictEqual(rows, [{ name: "gatehouse" }])
      assert.strictEqual(lstatSync(join(at, "data", "postgres")).uid, nobody.uid)
      yield* owner.kill("SIGTERM")

      const asRoot = yield* start(file, join(at, "data"))
      assert.match(asRoot.firstLine, /^ready /, "root takes turns with the user")
      assert.strictEqual(lstatSync(join(at, "data", "postgres")).uid, nobody.uid)
    }).pipe(Effect.scoped, Effect.runPromise)
  )
})
