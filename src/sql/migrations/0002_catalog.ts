import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

export default Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    CREATE TABLE apps (
      id uuid PRIMARY KEY,
      tenant_id uuid NOT NULL REFERENCES tenants,
      name text NOT NULL,
      slug text NOT NULL,
      bundle_id text,
      package_name text,
      platforms text[] NOT NULL DEFAULT '{}',
      public_api_key text NOT NULL UNIQUE,
      status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'paused', 'archived')),
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      UNIQUE (tenant_id, slug)
    );
    CREATE INDEX apps_tenant ON apps (tenant_id, id DESC);

    CREATE TABLE products (
      id uuid PRIMARY KEY,
      app_id uuid NOT NULL REFERENCES apps ON DELETE CASCADE,
      store text NOT NULL CHECK (store IN ('store_a', 'store_b', 'store_c', 'custom')),
      identifier text NOT NULL,
      name text NOT NULL,
      type text NOT NULL CHECK (type IN ('subscription', 'non_renewing_subscription', 'consumable', 'non_consumable')),
      subscription_period text,
      price_micros bigint,
      currency text,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      UNIQUE (app_id, store, identifier)
    );
    CREATE INDEX products_app ON products (app_id, id DESC);

    CREATE TABLE entitlements (
      id uuid PRIMARY KEY,
      app_id uuid NOT NULL REFERENCES apps ON DELETE CASCADE,
      identifier text NOT NULL,
      name text NOT NULL,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      UNIQUE (app_id, identifier)
    );
    CREATE INDEX entitlements_app ON entitlements (app_id, id DESC);

    CREATE TABLE entitlement_products (
      entitlement_id uuid NOT NULL REFERENCES entitlements ON DELETE CASCADE,
      product_id uuid NOT NULL REFERENCES products ON DELETE CASCADE,
      PRIMARY KEY (entitlement_id, product_id)
    );
    CREATE INDEX entitlement_products_product ON entitlement_products (product_id);
  `
)
