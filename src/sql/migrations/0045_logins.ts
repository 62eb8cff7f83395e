import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** Logins by password that were tried since the last one that succeeded: the platform takes many for an attack. */
export default Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`ALTER TABLE channels ADD COLUMN login_attempts timestamptz[] NOT NULL DEFAULT '{}'`
)
