import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

export default Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    ALTER TABLE store_notifications
      ADD COLUMN attempts integer NOT NULL DEFAULT 0,
      ADD COLUMN due_at timestamptz;
    UPDATE store_notifications SET due_at = received_at WHERE state = 'pending';
    CREATE INDEX store_notifications_due ON store_notifications (due_at) WHERE due_at IS NOT NULL;

    ALTER TABLE subscriptions ADD COLUMN look_at timestamptz;
    UPDATE subscriptions SET look_at = expires_date
      WHERE status IN ('active', 'trialing', 'canceled', 'paused_pending', 'in_grace_period', 'in_billing_retry', 'on_hold');
    CREATE INDEX subscriptions_look ON subscriptions (look_at) WHERE look_at IS NOT NULL;
    CREATE INDEX store_tokens_chain ON store_tokens (app_id, original_transaction_id) WHERE replaced_by IS NULL;

    CREATE TABLE store_catch_ups (
      app_id uuid NOT NULL REFERENCES apps ON DELETE CASCADE,
      environment text NOT NULL CHECK (environment IN ('production', 'sandbox')),
      caught_up_to timestamptz,
      attempts integer NOT NULL DEFAULT 0,
      due_at timestamptz,
      PRIMARY KEY (app_id, environment)
    );
    CREATE INDEX store_catch_ups_due ON store_catch_ups (due_at) WHERE due_at IS NOT NULL;
  `
)
