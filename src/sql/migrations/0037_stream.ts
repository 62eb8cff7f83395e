import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * The transaction that wrote an event. Ids are made before the commit, so their order is not the order in which events
 * appear: whoever follows the table goes by transaction, up to the oldest one that is still under way, and misses none.
 */
export default Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    ALTER TABLE webhook_events ADD COLUMN xid xid8 NOT NULL DEFAULT pg_current_xact_id();
    CREATE INDEX webhook_events_written ON webhook_events (xid, id);
  `
)
