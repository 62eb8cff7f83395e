import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

export default Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    CREATE TABLE users (
      id uuid PRIMARY KEY,
      name text NOT NULL,
      email text NOT NULL,
      password_hash text NOT NULL,
      is_operator boolean NOT NULL DEFAULT false,
      created_at timestamptz NOT NULL
    );
    CREATE UNIQUE INDEX users_email_key ON users (lower(email));

    CREATE TABLE tenants (
      id uuid PRIMARY KEY,
      name text NOT NULL,
      slug text NOT NULL UNIQUE,
      billing_email text,
      plan text NOT NULL DEFAULT 'free' CHECK (plan IN ('free', 'pro', 'enterprise')),
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL
    );

    CREATE TABLE memberships (
      tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
      user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
      role text NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
      created_at timestamptz NOT NULL,
      PRIMARY KEY (tenant_id, user_id)
    );
    CREATE INDEX memberships_user ON memberships (user_id, created_at);

    CREATE TABLE access_tokens (
      id uuid PRIMARY KEY,
      user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
      name text NOT NULL,
      abilities text[] NOT NULL,
      digest text NOT NULL UNIQUE,
      expires_at timestamptz,
      created_at timestamptz NOT NULL
    );
    CREATE INDEX access_tokens_user ON access_tokens (user_id, id DESC);

    CREATE TABLE revoked_operator_tokens (
      jti uuid PRIMARY KEY,
      expires_at timestamptz NOT NULL
    );
  `
)
