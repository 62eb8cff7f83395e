import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** The last alert that the manager got about a chat, by what it was about, and how often nobody was told since. */
export default Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    CREATE TABLE reply_alerts (
      account_id uuid NOT NULL REFERENCES channels ON DELETE CASCADE,
      chat_id text NOT NULL,
      occasion text NOT NULL,
      told text NOT NULL,
      told_at timestamptz NOT NULL,
      held_back integer NOT NULL,
      PRIMARY KEY (account_id, chat_id, occasion)
    )`
)
