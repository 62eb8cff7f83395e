import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

export default Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    CREATE TABLE store_credentials (
      id uuid PRIMARY KEY,
      app_id uuid NOT NULL REFERENCES apps ON DELETE CASCADE,
      platform text NOT NULL CHECK (platform IN ('store_a', 'store_b')),
      environment text NOT NULL CHECK (environment IN ('production', 'sandbox')),
      store_a_issuer_id text,
      store_a_key_id text,
      store_a_bundle_id text,
      store_b_package_name text,
      store_b_client_email text,
      secret_sealed text NOT NULL,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      UNIQUE (app_id, platform, environment)
    );
    CREATE INDEX store_credentials_app ON store_credentials (app_id, id DESC);
  `
)
