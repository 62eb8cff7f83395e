import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

export default Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    -- A merged customer keeps its row, and with it its name: the names of an app stay unique in one place.
    ALTER TABLE customers
      ADD COLUMN merged_into uuid REFERENCES customers,
      ADD COLUMN original_app_user_id text,
      ADD COLUMN erased_at timestamptz;
    CREATE INDEX customers_merged ON customers (merged_into) WHERE merged_into IS NOT NULL;
    CREATE INDEX customers_search ON customers (app_id, lower(app_user_id) text_pattern_ops);

    CREATE TABLE grants (
      id uuid PRIMARY KEY,
      app_id uuid NOT NULL REFERENCES apps ON DELETE CASCADE,
      customer_id uuid NOT NULL REFERENCES customers,
      entitlement_id uuid NOT NULL REFERENCES entitlements ON DELETE CASCADE,
      granted_at timestamptz NOT NULL,
      expires_date timestamptz,
      revoked_at timestamptz
    );
    CREATE INDEX grants_customer ON grants (customer_id, id DESC);
    CREATE INDEX grants_entitlement ON grants (entitlement_id);

    CREATE INDEX transactions_once ON transactions (customer_id) WHERE subscription_id IS NULL;
    CREATE INDEX transactions_subscription ON transactions (subscription_id);

    CREATE INDEX subscriptions_status ON subscriptions (app_id, status, id DESC);
    CREATE INDEX subscriptions_store ON subscriptions (app_id, store, id DESC);
    CREATE INDEX subscriptions_product ON subscriptions (app_id, product_identifier, id DESC);
    CREATE INDEX subscriptions_environment ON subscriptions (app_id, environment, id DESC);

    CREATE INDEX transactions_store ON transactions (app_id, store, id DESC);
    CREATE INDEX transactions_product ON transactions (app_id, product_identifier, id DESC);
    CREATE INDEX transactions_environment ON transactions (app_id, environment, id DESC);
    CREATE INDEX transactions_purchased ON transactions (app_id, purchase_date);

    CREATE INDEX domain_events_type ON domain_events (app_id, type, id DESC);
    CREATE INDEX domain_events_person ON domain_events (app_id, app_user_id, id DESC);

    CREATE INDEX webhook_deliveries_event ON webhook_deliveries (event_id);
  `
)
