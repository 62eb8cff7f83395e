import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

export default Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    CREATE TABLE offerings (
      id uuid PRIMARY KEY,
      app_id uuid NOT NULL REFERENCES apps ON DELETE CASCADE,
      identifier text NOT NULL,
      is_current boolean NOT NULL DEFAULT false,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      UNIQUE (app_id, identifier)
    );
    CREATE INDEX offerings_app ON offerings (app_id, id DESC);
    CREATE UNIQUE INDEX offerings_current ON offerings (app_id) WHERE is_current;

    -- The product is named, not referenced: one identifier stands for a product of each store.
    CREATE TABLE packages (
      id uuid PRIMARY KEY,
      offering_id uuid NOT NULL REFERENCES offerings ON DELETE CASCADE,
      identifier text NOT NULL,
      package_type text NOT NULL CHECK (package_type IN
        ('monthly', 'annual', 'weekly', 'two_month', 'three_month', 'six_month', 'lifetime', 'custom')),
      product_identifier text NOT NULL,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      UNIQUE (offering_id, identifier)
    );
    CREATE INDEX packages_offering ON packages (offering_id, id DESC);

    CREATE INDEX products_identifier ON products (app_id, identifier);
    CREATE INDEX subscriptions_bought ON subscriptions (app_id, store, product_identifier);
    CREATE INDEX transactions_bought ON transactions (app_id, store, product_identifier);
  `
)
