import { NodeRuntime } from "@effect/platform-node"
import { Effect, Redacted } from "effect"
import { DatabaseAddress } from "../../src/sql/Database.ts"
import * as EmbeddedPostgres from "../../src/sql/EmbeddedPostgres.ts"

/**
 * A program of its own that owns the embedded database under its first argument until it is stopped. It says
 * `ready <url>`, or `refused <message>`.
 */
const owner = Effect.gen(function* () {
  const { url } = yield* DatabaseAddress
  yield* Effect.sync(() => process.stdout.write(`ready ${Redacted.value(url)}\n`))
  return yield* Effect.never
}).pipe(
  Effect.provide(EmbeddedPostgres.layer({ dataDir: process.argv[2] ?? "", maxConnections: 10 })),
  Effect.catchTag("EmbeddedPostgresFailed", ({ message }) =>
    Effect.sync(() => process.stdout.write(`refused ${message}\n`))
  )
)

NodeRuntime.runMain(owner)
