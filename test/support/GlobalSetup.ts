import { chmodSync, existsSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync } from "node:fs"
import { randomBytes } from "node:crypto"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Exit, Layer, Logger, LogLevel, Redacted, Scope } from "effect"
import { Client } from "pg"
import type { TestProject } from "vitest/node"
import { DatabaseAddress } from "../../src/sql/Database.ts"
import * as Database from "../../src/sql/Database.ts"
import * as EmbeddedPostgres from "../../src/sql/EmbeddedPostgres.ts"
import * as Migrations from "../../src/sql/Migrations.ts"

declare module "vitest" {
  export interface ProvidedContext {
    /** The run's server, as its administrator, and the migrated database that test files copy. */
    readonly databaseServer: { readonly url: string; readonly template: string }
  }
}

const prefix = "gatehouse-test-"

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const removeDirectory = (directory: string) => {
  const server = join(directory, "postgres")
  if (existsSync(server)) rmSync(realpathSync(server), { recursive: true, force: true })
  rmSync(directory, { recursive: true, force: true })
}

/** A run that was killed leaves its server behind; the next run ends it. */
const sweep = () => {
  for (const name of readdirSync(tmpdir()).filter((name) => name.startsWith(prefix))) {
    const directory = join(tmpdir(), name)
    const owner = Number(name.slice(prefix.length).split("-")[0])
    if (isAlive(owner)) continue
    const pidFile = join(directory, "postgres", "cluster", "postmaster.pid")
    const pid = existsSync(pidFile) ? Number(readFileSync(pidFile, "utf8").split("\n")[0]) : 0
    if (pid > 0 && isAlive(pid)) process.kill(pid, "SIGQUIT")
    removeDirectory(directory)
  }
}

const embedded = Layer.unwrapScoped(
  Effect.acquireRelease(
    Effect.sync(() => {
      sweep()
      const directory = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`))
      chmodSync(directory, 0o755)
      return directory
    }),
    (directory) => Effect.sync(() => removeDirectory(directory))
  ).pipe(Effect.map((dataDir) => Layer.fresh(EmbeddedPostgres.layer({ dataDir, maxConnections: 200, durable: false }))))
)

const external = (url: string) =>
  Layer.succeed(DatabaseAddress, { url: Redacted.make(url), maxConnections: 4, origin: "external" as const })

const administer = (url: string, ...statements: ReadonlyArray<string>) =>
  Effect.promise(async () => {
    const client = new Client({ connectionString: url })
    await client.connect()
    for (const statement of statements) await client.query(statement)
    await client.end()
  })

const template = Effect.gen(function* () {
  const { url: address } = yield* DatabaseAddress
  const url = Redacted.value(address)
  const name = `gatehouse_template_${randomBytes(4).toString("hex")}`
  yield* Effect.acquireRelease(administer(url, `CREATE DATABASE ${name}`), () =>
    administer(url, `DROP DATABASE ${name} WITH (FORCE)`)
  )
  const own = new URL(url)
  own.pathname = `/${name}`
  const database = Database.layer.pipe(
    Layer.provide(
      Layer.succeed(DatabaseAddress, { url: Redacted.make(own.href), maxConnections: 4, origin: "external" })
    )
  )
  yield* Migrations.migrate.pipe(Effect.provide(database), Logger.withMinimumLogLevel(LogLevel.Warning))
  return { url, template: name }
})

/** One server for the whole run: the one of `DATABASE_URL`, whose user may create databases, else an embedded one. */
export default async function setup(project: TestProject) {
  const scope = await Effect.runPromise(Scope.make())
  const given = process.env["DATABASE_URL"]
  const server = given === undefined || given === "" ? embedded : external(given)
  const provided = await Effect.runPromise(
    Effect.gen(function* () {
      const context = yield* Layer.buildWithScope(server, scope)
      return yield* template.pipe(Effect.provide(context), Scope.extend(scope))
    })
  )
  project.provide("databaseServer", provided)
  return () => Effect.runPromise(Scope.close(scope, Exit.void))
}
