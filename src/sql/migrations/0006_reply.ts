import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

export default Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    CREATE TABLE ai_global (
      singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
      settings jsonb NOT NULL,
      api_key_sealed text
    );

    CREATE TABLE ai_accounts (
      account_id uuid PRIMARY KEY REFERENCES channels ON DELETE CASCADE,
      settings jsonb NOT NULL,
      api_key_sealed text
    );

    CREATE TABLE ai_logs (
      id uuid PRIMARY KEY,
      account_id uuid NOT NULL REFERENCES channels ON DELETE CASCADE,
      chat_id text NOT NULL,
      message_id uuid NOT NULL UNIQUE,
      reply_message_id uuid UNIQUE,
      status text NOT NULL CHECK (status IN ('pending', 'generated', 'sent', 'failed', 'skipped')),
      reason text,
      model_name text,
      prompt_tokens integer,
      completion_tokens integer,
      latency_ms integer,
      reply text,
      due_at timestamptz,
      created_at timestamptz NOT NULL
    );
    CREATE INDEX ai_logs_open ON ai_logs (account_id, id) WHERE status IN ('pending', 'generated');
    CREATE INDEX ai_logs_account ON ai_logs (account_id, id DESC);
    CREATE INDEX ai_logs_chat ON ai_logs (account_id, chat_id, id DESC);
  `
)
