import { PgClient } from "@effect/sql-pg"
import { Context, Data, Effect, Layer, Redacted, Schema, String } from "effect"
import { Pool, types as pgTypes } from "pg"
import type { CustomTypesConfig, PoolConfig } from "pg"
import { useCancelRequests } from "./CancelRequests.ts"
import { usePipeline } from "./PipelinedClient.ts"

/** Where the database answers: a URL of the operator's own server, or the socket of the embedded one. */
export class DatabaseAddress extends Context.Tag("gatehouse/sql/DatabaseAddress")<
  DatabaseAddress,
  {
    readonly url: Redacted.Redacted<string>
    readonly maxConnections: number
    readonly origin: "external" | "embedded"
  }
>() {}

/** The pool under the SQL client, for the few reads that every phone makes and that are prepared by name. */
export class DatabasePool extends Context.Tag("gatehouse/sql/DatabasePool")<DatabasePool, Pool>() {}

/** The database does not answer or is not one that the program can use, in one line for the operator. */
export class DatabaseUnreachable extends Data.TaggedError("DatabaseUnreachable")<{ readonly message: string }> {}

const int8 = 20
const oldestVersion = 140_000

const numericTypes: CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === int8 && format !== "binary" ? Number : pgTypes.getTypeParser(oid, format === "binary" ? "binary" : "text")
}

/** A host with several addresses fails with all their errors at once and no message of its own. */
const reasonOf = (cause: unknown): string => {
  if (cause instanceof AggregateError && cause.message === "") return reasonOf(cause.errors[0])
  return cause instanceof Error && cause.message !== "" ? cause.message : "no answer"
}

const Version = Schema.Struct({
  rows: Schema.Tuple(Schema.Struct({ number: Schema.NumberFromString, name: Schema.String }))
})
const versionQuery = "SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS name"

const checkVersion = (connections: Pool) =>
  Effect.tryPromise(() => connections.query(versionQuery)).pipe(
    Effect.mapError(
      ({ error }) => new DatabaseUnreachable({ message: `the database cannot be reached: ${reasonOf(error)}` })
    ),
    Effect.flatMap((answer) => Effect.orDie(Schema.decodeUnknown(Version)(answer))),
    Effect.filterOrFail(
      ({ rows: [{ number }] }) => number >= oldestVersion,
      ({ rows: [{ name }] }) =>
        new DatabaseUnreachable({ message: `the database is PostgreSQL ${name}: version 14 or newer is needed` })
    )
  )

const config = ({ maxConnections, url }: Context.Tag.Service<DatabaseAddress>): PoolConfig => ({
  connectionString: Redacted.value(url),
  max: maxConnections,
  connectionTimeoutMillis: 10_000,
  keepAlive: true,
  application_name: "gatehouse",
  types: numericTypes
})

const cancelRequestConfig: PoolConfig = { max: 1, idleTimeoutMillis: 1_000, query_timeout: 5_000 }

/**
 * Broken connections leave the pool by themselves and are replaced when they are next needed. Their error events, which
 * would end the process when nobody listened, are heard from the first to the last moment of each connection.
 */
const openPool = (settings: PoolConfig) =>
  Effect.try({
    try: () => {
      const connections = new Pool(settings)
      connections.on("error", () => undefined)
      connections.on("connect", (client) => client.on("error", () => undefined))
      return connections
    },
    catch: () => new DatabaseUnreachable({ message: "the database's URL cannot be read" })
  })

const close = (connections: Pool) =>
  Effect.promise(() => connections.end()).pipe(Effect.interruptible, Effect.timeoutOption("2 seconds"))

const scopedPool = (settings: PoolConfig) => Effect.acquireRelease(openPool(settings), close)

const pool = Layer.scoped(
  DatabasePool,
  Effect.gen(function* () {
    const settings = config(yield* DatabaseAddress)
    const requests = yield* scopedPool({ ...settings, ...cancelRequestConfig })
    const connections = yield* scopedPool({ ...settings, pipeline: true })
    connections.on("connect", usePipeline)
    useCancelRequests(connections, requests)
    yield* checkVersion(connections)
    return connections
  })
)

/** Names of columns are few and are asked for with every row. */
const remembered = (rename: (name: string) => string) => {
  const known = new Map<string, string>()
  return (name: string) => {
    const before = known.get(name)
    if (before !== undefined) return before
    const renamed = rename(name)
    known.set(name, renamed)
    return renamed
  }
}

/**
 * One pool, seen twice: as `SqlClient` with snake_case columns and camelCase rows (jsonb untouched), and bare.
 * `int8` arrives as a number: sums of money stay far below 2^53 micros per row and are added by the database.
 */
export const layer = Layer.unwrapEffect(
  Effect.map(DatabasePool, (connections) =>
    PgClient.layerFromPool({
      acquire: Effect.succeed(connections),
      transformQueryNames: String.camelToSnake,
      transformResultNames: remembered(String.snakeToCamel),
      transformJson: false
    })
  )
).pipe(Layer.provideMerge(pool))
