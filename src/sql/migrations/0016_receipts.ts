import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

export default Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    ALTER TABLE apps ADD COLUMN transfer_behavior text NOT NULL DEFAULT 'transfer'
      CHECK (transfer_behavior IN ('transfer', 'keep'));

    -- When the store signed the newest word on a one-time purchase; null for periods of subscriptions.
    ALTER TABLE transactions ADD COLUMN signed_at timestamptz;
  `
)
