import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

export default Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    CREATE TABLE customers (
      id uuid PRIMARY KEY,
      app_id uuid NOT NULL REFERENCES apps ON DELETE CASCADE,
      app_user_id text NOT NULL,
      is_anonymous boolean NOT NULL,
      first_seen timestamptz NOT NULL,
      last_seen timestamptz NOT NULL,
      UNIQUE (app_id, app_user_id)
    );
    CREATE INDEX customers_app ON customers (app_id, id DESC);

    CREATE TABLE store_notifications (
      id uuid PRIMARY KEY,
      app_id uuid NOT NULL REFERENCES apps ON DELETE CASCADE,
      store text NOT NULL,
      notification_id text NOT NULL,
      type text NOT NULL,
      subtype text,
      environment text,
      state text NOT NULL CHECK (state IN ('pending', 'applied', 'ignored')),
      reason text,
      payload text NOT NULL,
      signed_at timestamptz NOT NULL,
      received_at timestamptz NOT NULL,
      UNIQUE (app_id, store, notification_id)
    );
    CREATE INDEX store_notifications_app ON store_notifications (app_id, id DESC);

    CREATE TABLE subscriptions (
      id uuid PRIMARY KEY,
      app_id uuid NOT NULL REFERENCES apps ON DELETE CASCADE,
      customer_id uuid NOT NULL REFERENCES customers,
      store text NOT NULL,
      environment text NOT NULL,
      original_transaction_id text NOT NULL,
      product_identifier text NOT NULL,
      status text NOT NULL,
      expires_date timestamptz,
      state jsonb NOT NULL,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      UNIQUE (app_id, store, environment, original_transaction_id)
    );
    CREATE INDEX subscriptions_app ON subscriptions (app_id, id DESC);
    CREATE INDEX subscriptions_customer ON subscriptions (customer_id);

    CREATE TABLE store_facts (
      subscription_id uuid NOT NULL REFERENCES subscriptions ON DELETE CASCADE,
      fact_id text NOT NULL,
      signed_at timestamptz NOT NULL,
      fact jsonb NOT NULL,
      PRIMARY KEY (subscription_id, fact_id)
    );

    CREATE TABLE transactions (
      id uuid PRIMARY KEY,
      app_id uuid NOT NULL REFERENCES apps ON DELETE CASCADE,
      customer_id uuid NOT NULL REFERENCES customers,
      subscription_id uuid REFERENCES subscriptions,
      store text NOT NULL,
      environment text NOT NULL,
      store_transaction_id text NOT NULL,
      original_transaction_id text NOT NULL,
      product_identifier text NOT NULL,
      period_type text NOT NULL,
      ownership_type text NOT NULL,
      purchase_date timestamptz NOT NULL,
      expires_date timestamptz,
      refunded_at timestamptz,
      price_micros bigint,
      currency text,
      created_at timestamptz NOT NULL,
      UNIQUE (app_id, store, environment, store_transaction_id)
    );
    CREATE INDEX transactions_app ON transactions (app_id, id DESC);
    CREATE INDEX transactions_customer ON transactions (customer_id, id DESC);

    CREATE TABLE domain_events (
      id uuid PRIMARY KEY,
      app_id uuid NOT NULL REFERENCES apps ON DELETE CASCADE,
      type text NOT NULL,
      cause text NOT NULL,
      app_user_id text,
      store text,
      environment text,
      subscription_id uuid,
      data jsonb NOT NULL,
      created_at timestamptz NOT NULL,
      UNIQUE (app_id, cause)
    );
    CREATE INDEX domain_events_app ON domain_events (app_id, id DESC);
  `
)
