import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

export default Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    ALTER TABLE webhook_endpoints ADD COLUMN previous_secret_sealed text, ADD COLUMN previous_secret_until timestamptz`
)
