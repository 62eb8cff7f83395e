import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * How fast a channel may send, and what it sent when. Rows of channels are rewritten by every poll, so pages keep room for
 * the next version of a row.
 */
export default Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    ALTER TABLE channels ADD COLUMN pacing text;
    ALTER TABLE channels SET (fillfactor = 70);
    ALTER TABLE messages ADD COLUMN not_before timestamptz,
      ADD COLUMN tried_at timestamptz,
      ADD COLUMN opens_chat boolean NOT NULL DEFAULT false;
    CREATE INDEX messages_tried ON messages (channel_id, tried_at DESC) WHERE tried_at IS NOT NULL;
    CREATE INDEX messages_opening ON messages (channel_id, tried_at DESC) WHERE opens_chat AND tried_at IS NOT NULL;
    CREATE INDEX messages_unsent_chat ON messages (channel_id, chat_id, id) WHERE status IN ('queued', 'sending');
  `
)
