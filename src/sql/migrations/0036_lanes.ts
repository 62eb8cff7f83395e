import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * What an endpoint may get: a measure, an order, a pause while its target is down. Only deliveries of ordered endpoints
 * have a key, so that the others pay for no index.
 */
export default Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    ALTER TABLE webhook_endpoints
      ADD COLUMN max_per_second integer CHECK (max_per_second BETWEEN 1 AND 1000),
      ADD COLUMN is_ordered boolean NOT NULL DEFAULT false,
      ADD COLUMN paused_until timestamptz,
      ADD COLUMN pauses integer NOT NULL DEFAULT 0;
    ALTER TABLE webhook_events ADD COLUMN order_key text;
    ALTER TABLE webhook_deliveries ADD COLUMN order_key text;
    CREATE INDEX webhook_deliveries_ordered ON webhook_deliveries (endpoint_id, order_key, id)
      WHERE due_at IS NOT NULL AND order_key IS NOT NULL;
    CREATE INDEX webhook_events_owner ON webhook_events (owner_id, id);
  `
)
