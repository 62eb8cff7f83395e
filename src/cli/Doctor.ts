import { Command } from "@effect/cli"
import { FileSystem } from "@effect/platform"
import { SqlClient } from "@effect/sql"
import { Console, Data, Effect, Option, Redacted } from "effect"
import { load } from "../Config.ts"
import { Seal } from "../kit/Seal.ts"
import { program } from "./Loaded.ts"
import { secretsOf } from "./Secrets.ts"

class Unwell extends Data.TaggedError("Unwell")<{ readonly message: string }> {}

interface Check {
  readonly name: string
  readonly run: Effect.Effect<string, string>
}

const oneLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split("\n", 1)[0] ?? "failed"

const checks = Effect.gen(function* () {
  const settings = yield* load
  const Program = yield* program
  const fs = yield* FileSystem.FileSystem
  const secrets = yield* secretsOf(settings).pipe(Effect.option)
  const storage = Program.storage(settings, { visitor: true })

  const database = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql<{ version: string }>`SELECT current_setting('server_version') AS version`
    return `PostgreSQL ${rows[0]?.version ?? "?"}, ${Option.isSome(settings.databaseUrl) ? "external" : "embedded"}`
  }).pipe(Effect.provide(storage), Effect.mapError(oneLine))

  const schema = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql`SELECT 1 FROM schema_migrations`
    return `${rows.length} migrations applied`
  }).pipe(
    Effect.provide(storage),
    Effect.mapError(() => "the database has no schema yet: run gatehouse migrate or start the program")
  )

  const sealing = Option.match(secrets, {
    onNone: () => Effect.fail("the keys cannot be read"),
    onSome: ({ encryptionKeys }) =>
      Effect.gen(function* () {
        const seal = yield* Seal
        const sealed = yield* seal.seal(Redacted.make("doctor"), "doctor")
        yield* seal.open(sealed, "doctor")
        return `${encryptionKeys.length} key(s), the first one seals`
      }).pipe(
        Effect.provide(Seal.layer(encryptionKeys)),
        Effect.mapError(() => "the key does not open what it sealed")
      )
  })

  const dataDirectory = fs.makeDirectory(settings.dataDir, { recursive: true }).pipe(
    Effect.zipRight(fs.access(settings.dataDir, { writable: true })),
    Effect.as(settings.dataDir),
    Effect.mapError(() => `${settings.dataDir} cannot be written`)
  )

  return [
    { name: "data directory", run: dataDirectory },
    { name: "database", run: database },
    { name: "schema", run: schema },
    { name: "encryption", run: sealing },
    ...(Option.isSome(settings.redisUrl) ? [{ name: "redis", run: Program.redisAnswers(settings.redisUrl.value) }] : [])
  ] satisfies ReadonlyArray<Check>
})

export const doctorCommand = Command.make("doctor", {}, () =>
  Effect.gen(function* () {
    const outcomes = yield* Effect.forEach(yield* checks, ({ name, run }) =>
      run.pipe(
        Effect.matchEffect({
          onSuccess: (found) => Effect.as(Console.log(`ok    ${name}: ${found}`), true),
          onFailure: (reason) => Effect.as(Console.log(`WRONG ${name}: ${reason}`), false)
        })
      )
    )
    if (outcomes.includes(false)) return yield* new Unwell({ message: "not everything is well" })
  })
).pipe(Command.withDescription("Check settings, storage and keys"))
