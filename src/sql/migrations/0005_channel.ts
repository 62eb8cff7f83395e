import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

export default Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    CREATE TABLE channels (
      id uuid PRIMARY KEY,
      name text NOT NULL,
      platform text NOT NULL CHECK (platform IN ('platform_a', 'platform_b')),
      status text NOT NULL DEFAULT 'disconnected' CHECK (status IN
        ('disconnected', 'connecting', 'qr_required', 'two_factor_required', 'challenge_required', 'connected', 'error')),
      username text,
      last_error text,
      token_digest text NOT NULL UNIQUE,
      session_sealed text,
      login_count integer NOT NULL DEFAULT 0,
      poll_cursor text,
      paused_until timestamptz,
      frozen_until timestamptz,
      setbacks integer NOT NULL DEFAULT 0,
      connected_at timestamptz,
      last_synced_at timestamptz,
      created_at timestamptz NOT NULL
    );
    CREATE INDEX channels_connected ON channels (id) WHERE status = 'connected';

    CREATE TABLE chats (
      channel_id uuid NOT NULL REFERENCES channels ON DELETE CASCADE,
      chat_id text NOT NULL,
      type text NOT NULL CHECK (type IN ('private', 'group', 'channel')),
      name text,
      is_blocked boolean NOT NULL DEFAULT false,
      unread_count integer NOT NULL DEFAULT 0,
      last_message_id uuid NOT NULL,
      last_message_at timestamptz,
      ai_mode text NOT NULL DEFAULT 'inherit' CHECK (ai_mode IN ('inherit', 'enabled', 'disabled')),
      custom_system_prompt text,
      created_at timestamptz NOT NULL,
      PRIMARY KEY (channel_id, chat_id)
    );
    CREATE INDEX chats_active ON chats (channel_id, last_message_id DESC);

    CREATE TABLE chat_aliases (
      channel_id uuid NOT NULL REFERENCES channels ON DELETE CASCADE,
      alias text NOT NULL,
      chat_id text NOT NULL,
      PRIMARY KEY (channel_id, alias)
    );

    CREATE TABLE messages (
      id uuid PRIMARY KEY,
      channel_id uuid NOT NULL REFERENCES channels ON DELETE CASCADE,
      chat_id text NOT NULL,
      chat_type text NOT NULL,
      platform_message_id text,
      direction text NOT NULL CHECK (direction IN ('incoming', 'outgoing')),
      type text NOT NULL,
      sender text,
      recipient text,
      body text NOT NULL,
      status text NOT NULL CHECK (status IN ('queued', 'sending', 'sent', 'delivered', 'read', 'failed', 'deleted')),
      error text,
      source text NOT NULL CHECK (source IN ('api', 'ai', 'manual', 'platform')),
      timestamp timestamptz NOT NULL,
      created_at timestamptz NOT NULL,
      UNIQUE (channel_id, chat_id, platform_message_id)
    );
    CREATE INDEX messages_chat ON messages (channel_id, chat_id, id DESC);
    CREATE INDEX messages_unsent ON messages (channel_id, id) WHERE status IN ('queued', 'sending');
  `
)
