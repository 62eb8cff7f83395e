import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

export default Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    CREATE TABLE store_tokens (
      app_id uuid NOT NULL REFERENCES apps ON DELETE CASCADE,
      purchase_token text NOT NULL,
      type text NOT NULL CHECK (type IN ('subscription', 'one_time')),
      readings integer NOT NULL,
      read_at timestamptz,
      original_transaction_id text,
      started_at timestamptz,
      order_id text,
      period_started_at timestamptz,
      replaced_by text,
      product_id text,
      acknowledge_due_at timestamptz,
      acknowledged_at timestamptz,
      PRIMARY KEY (app_id, purchase_token)
    );
    CREATE INDEX store_tokens_unacknowledged ON store_tokens (acknowledge_due_at)
      WHERE acknowledge_due_at IS NOT NULL AND acknowledged_at IS NULL;

    CREATE TABLE store_voided_orders (
      app_id uuid NOT NULL REFERENCES apps ON DELETE CASCADE,
      purchase_token text NOT NULL,
      order_id text NOT NULL,
      voided_at timestamptz NOT NULL,
      PRIMARY KEY (app_id, purchase_token, order_id)
    );
  `
)
