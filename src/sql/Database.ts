import { PgClient } from "@effect/sql-pg"
import { Context, Data, Effect, Layer, Redacted, String } from "effect"
import { Pool, types as pgTypes } from "pg"
import type { CustomTypesConfig } from "pg"

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

export class DatabaseUnreachable extends Data.TaggedError("DatabaseUnreachable")<{ readonly message: string }> {}

const int8 = 20
const numericTypes: CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === int8 && format !== "binary"
      ? (text: string) => Number(text)
      : (pgTypes.getTypeParser(oid, format) as (text: string | Buffer) => unknown)
}

const pool = Layer.scoped(
  DatabasePool,
  Effect.gen(function* () {
    const address = yield* DatabaseAddress
    return yield* Effect.acquireRelease(
      Effect.tryPromise({
        try: async () => {
          const connections = new Pool({
            connectionString: Redacted.value(address.url),
            max: address.maxConnections,
            connectionTimeoutMillis: 10_000,
            application_name: "gatehouse",
            types: numericTypes
          })
          connections.on("error", () => undefined)
          await connections.query("SELECT 1")
          return connections
        },
        catch: (cause) =>
          new DatabaseUnreachable({ message: cause instanceof Error ? cause.message : "no answer from the database" })
      }),
      (connections) => Effect.promise(() => connections.end()).pipe(Effect.timeoutOption("2 seconds"))
    )
  })
)

/**
 * One pool, seen twice: as `SqlClient` with snake_case columns and camelCase rows (jsonb untouched), and bare.
 * `int8` arrives as a number: sums of money stay far below 2^53 micros per row and are added by the database.
 */
export const layer = Layer.unwrapEffect(
  Effect.map(DatabasePool, (connections) =>
    PgClient.layerFromPool({
      acquire: Effect.succeed(connections),
      transformQueryNames: String.camelToSnake,
      transformResultNames: String.snakeToCamel,
      transformJson: false
    })
  )
).pipe(Layer.provideMerge(pool))
