import { SqlClient } from "@effect/sql"
import { Effect, Layer, Schedule, Schema } from "effect"
import { supervise } from "../kit/Supervise.ts"

/** Rows from which on it matters which index the database takes. */
const worthwhile = 500

const decode = Schema.decodeUnknown(Schema.Array(Schema.Struct({ name: Schema.String })))

/**
 * Takes statistics of the tables that have grown and have none yet. Until then the database takes whichever index begins
 * with the right column, and stays with it for what is prepared: of an app's purchases it reads all to find one. Its own
 * daemon looks once a minute, and within its first minute a new installation may take in thousands.
 */
export const takeFirstStatistics = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* Effect.flatMap(
    sql`SELECT relid::regclass::text AS name FROM pg_stat_user_tables
      WHERE n_live_tup >= ${worthwhile} AND last_analyze IS NULL AND last_autoanalyze IS NULL`,
    decode
  )
  yield* Effect.forEach(tables, ({ name }) => sql.unsafe(`ANALYZE ${name}`), { discard: true })
})

export const layer = Layer.scopedDiscard(
  Effect.forkScoped(supervise("FirstStatistics", Effect.repeat(takeFirstStatistics, Schedule.spaced("5 seconds"))))
)
