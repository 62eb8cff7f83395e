import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

export default Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    CREATE TABLE webhook_endpoints (
      id uuid PRIMARY KEY,
      owner_kind text NOT NULL CHECK (owner_kind IN ('app', 'account')),
      owner_id uuid NOT NULL,
      url text NOT NULL,
      events text[] NOT NULL,
      retry_count integer NOT NULL CHECK (retry_count BETWEEN 0 AND 5),
      timeout_seconds integer NOT NULL CHECK (timeout_seconds BETWEEN 1 AND 30),
      secret_sealed text NOT NULL,
      is_active boolean NOT NULL DEFAULT true,
      disabled_reason text,
      failing_since timestamptz,
      created_at timestamptz NOT NULL
    );
    CREATE INDEX webhook_endpoints_owner ON webhook_endpoints (owner_id, id DESC);

    CREATE TABLE webhook_events (
      id uuid PRIMARY KEY,
      owner_kind text NOT NULL CHECK (owner_kind IN ('app', 'account')),
      owner_id uuid NOT NULL,
      event text NOT NULL,
      body text NOT NULL,
      created_at timestamptz NOT NULL
    );

    -- No foreign key to the endpoint: the history outlives it, and whoever inserts holds the endpoint's key. Half of each
    -- page is left for the two updates that a delivery gets in its first second, so that indexes do not grow with them.
    CREATE TABLE webhook_deliveries (
      id uuid PRIMARY KEY,
      endpoint_id uuid NOT NULL,
      owner_id uuid NOT NULL,
      event_id uuid NOT NULL,
      event text NOT NULL,
      state text NOT NULL CHECK (state IN ('pending', 'delivering', 'failed', 'succeeded', 'exhausted', 'canceled')),
      attempt_count integer NOT NULL DEFAULT 0,
      due_at timestamptz,
      created_at timestamptz NOT NULL
    ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
    CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, due_at, id) WHERE due_at IS NOT NULL;
    CREATE INDEX webhook_deliveries_owner ON webhook_deliveries (owner_id, id DESC);
    CREATE INDEX webhook_deliveries_endpoint ON webhook_deliveries (endpoint_id, id DESC);

    -- No foreign key: rows are made by the statement that updates their delivery.
    CREATE TABLE webhook_attempts (
      delivery_id uuid NOT NULL,
      id uuid NOT NULL,
      number integer NOT NULL,
      started_at timestamptz NOT NULL,
      duration_ms integer NOT NULL,
      code integer NOT NULL,
      response_body text,
      error text,
      PRIMARY KEY (delivery_id, id)
    );
  `
)
