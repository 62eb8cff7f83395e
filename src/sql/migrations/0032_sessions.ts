import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

export default Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    CREATE TABLE platform_sessions (
      channel_id uuid PRIMARY KEY REFERENCES channels ON DELETE CASCADE,
      epoch bigint NOT NULL,
      credentials_sealed text
    );

    CREATE TABLE platform_session_keys (
      channel_id uuid NOT NULL REFERENCES platform_sessions ON DELETE CASCADE,
      kind text NOT NULL,
      key_id text NOT NULL,
      sealed text NOT NULL,
      PRIMARY KEY (channel_id, kind, key_id)
    );

    CREATE TABLE channel_pairings (
      channel_id uuid PRIMARY KEY REFERENCES channels ON DELETE CASCADE,
      phone_number text,
      shown_as text CHECK (shown_as IN ('qr', 'pairing_code')),
      shown_sealed text,
      expires_at timestamptz
    );

    DROP INDEX channels_connected;
    CREATE INDEX channels_alive ON channels (id) WHERE status IN ('connected', 'connecting', 'qr_required');
    CREATE INDEX messages_of_platform ON messages (channel_id, platform_message_id) WHERE platform_message_id IS NOT NULL;
  `
)
