import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * A chat with replies to make has one job. `current` is the one reply that is under way, `answered_until` the last that
 * has ended, `waiting` counts those that have not, and at `due_at` there is something to do. The parts of a reply lead
 * from its messages back to it. Replies that are under way when this is applied go on.
 */
export default Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    CREATE TABLE reply_jobs (
      account_id uuid NOT NULL REFERENCES channels ON DELETE CASCADE,
      chat_id text NOT NULL,
      current uuid,
      answered_until uuid,
      waiting integer NOT NULL,
      due_at timestamptz,
      PRIMARY KEY (account_id, chat_id)
    );
    CREATE INDEX reply_jobs_due ON reply_jobs (account_id, due_at) WHERE due_at IS NOT NULL;

    CREATE TABLE reply_parts (
      message_id uuid PRIMARY KEY,
      log_id uuid NOT NULL REFERENCES ai_logs ON DELETE CASCADE,
      position integer NOT NULL,
      is_last boolean NOT NULL
    );
    CREATE INDEX reply_parts_log ON reply_parts (log_id);

    UPDATE ai_logs SET status = CASE WHEN messages.status = 'failed' THEN 'failed' ELSE 'sent' END,
        reason = messages.error
      FROM messages WHERE ai_logs.status = 'generated' AND messages.id = ai_logs.reply_message_id
        AND messages.status NOT IN ('queued', 'sending');
    INSERT INTO reply_jobs (account_id, chat_id, waiting, current, due_at)
      SELECT account_id, chat_id, count(*), (array_agg(id ORDER BY id) FILTER (WHERE status = 'generated'))[1],
        CASE WHEN count(*) FILTER (WHERE status = 'generated' AND reply_message_id IS NOT NULL) = 0 THEN now() END
      FROM ai_logs WHERE status IN ('pending', 'generated') GROUP BY account_id, chat_id;
    INSERT INTO reply_parts (message_id, log_id, position, is_last)
      SELECT reply_message_id, id, 0, true FROM ai_logs WHERE status = 'generated' AND reply_message_id IS NOT NULL;

    DROP INDEX ai_logs_open;
    CREATE INDEX ai_logs_open ON ai_logs (account_id, chat_id, id) WHERE status IN ('pending', 'generated');
    ALTER TABLE ai_logs DROP COLUMN due_at, ADD COLUMN detail text;
    UPDATE ai_logs SET detail = substr(reason, strpos(reason, ': ') + 2), reason = split_part(reason, ': ', 1)
      WHERE status = 'failed' AND strpos(reason, ': ') > 0;

    UPDATE ai_global SET settings =
      '{"managerAlerts": null, "debounceSeconds": null, "humanTakeoverMinutes": null}'::jsonb || settings;
    UPDATE ai_accounts SET settings =
      '{"managerAlerts": null, "debounceSeconds": null, "humanTakeoverMinutes": null}'::jsonb || settings;

    CREATE INDEX messages_manual ON messages (channel_id, chat_id, timestamp DESC) WHERE source = 'manual';
  `
)
