import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

export default Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    CREATE TABLE idempotency_keys (
      caller text NOT NULL,
      key text NOT NULL,
      id uuid NOT NULL,
      request text NOT NULL,
      answer_sealed text,
      leased_until timestamptz NOT NULL,
      created_at timestamptz NOT NULL,
      PRIMARY KEY (caller, key)
    );
    CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);

    -- No foreign keys: what was done stays told when the user, the record or the workspace is gone.
    CREATE TABLE audit_log (
      id uuid PRIMARY KEY,
      tenant_id uuid NOT NULL,
      user_id uuid NOT NULL,
      token_id uuid NOT NULL,
      operation text NOT NULL,
      record_id text,
      path jsonb NOT NULL,
      changes jsonb,
      address text,
      request_id text NOT NULL,
      created_at timestamptz NOT NULL
    );
    CREATE INDEX audit_log_tenant ON audit_log (tenant_id, id DESC);
    CREATE INDEX audit_log_record ON audit_log (tenant_id, record_id, id DESC);
    CREATE INDEX audit_log_user ON audit_log (tenant_id, user_id, id DESC);
  `
)
