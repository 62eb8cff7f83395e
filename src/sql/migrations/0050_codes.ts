import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** Codes of a second factor or a challenge that were tried since the last login that succeeded, as logins are. */
export default Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`ALTER TABLE channels ADD COLUMN code_attempts timestamptz[] NOT NULL DEFAULT '{}'`
)
