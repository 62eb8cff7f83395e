import { SqlClient, SqlSchema } from "@effect/sql"
import { DateTime, Effect, Option, Schema } from "effect"
import { firstIdAt } from "../kit/Id.ts"
import { AiLog, AiLogId, AiLogStatus } from "./domain/AiLog.ts"

const Query = Schema.Struct({
  accountId: Schema.NullOr(Schema.UUID),
  chatId: Schema.NullOr(Schema.String),
  status: Schema.NullOr(AiLogStatus),
  before: Schema.NullOr(Schema.UUID),
  limit: Schema.Int
})

const Chat = Schema.Struct({ accountId: Schema.String, chatId: Schema.String })
const Count = Schema.Struct({ count: Schema.Int })
const Ids = Schema.Array(Schema.Struct({ id: AiLogId }))

interface Move {
  readonly from: AiLog
  readonly to: AiLog
}
/** As `ai_logs_move` reads it. Written out: a schema would cost more than the statement, twice for every reply. */
const moveOf = ({ from, to }: Move) => ({
  id: from.id,
  was: from.status,
  wasReplyMessageId: Option.getOrNull(from.replyMessageId),
  status: to.status,
  reason: Option.getOrNull(to.reason),
  replyMessageId: Option.getOrNull(to.replyMessageId),
  modelName: Option.getOrNull(to.modelName),
  promptTokens: Option.getOrNull(to.promptTokens),
  completionTokens: Option.getOrNull(to.completionTokens),
  latencyMs: Option.getOrNull(to.latencyMs),
  reply: Option.getOrNull(to.reply),
  detail: Option.getOrNull(to.detail)
})

export class AiLogRepo extends Effect.Service<AiLogRepo>()("gatehouse/reply/AiLogRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const insert = Effect.fn("AiLogRepo.insert")(
      (
        rows: ReadonlyArray<{
          readonly id: AiLogId
          readonly accountId: string
          readonly chatId: string
          readonly messageId: string
        }>,
        at: DateTime.Utc
      ) => sql`/* prepared: ai_logs_insert */
        INSERT INTO ai_logs (id, account_id, chat_id, message_id, status, created_at)
        SELECT *, 'pending', ${DateTime.toDateUtc(at)}::timestamptz
        FROM unnest(${rows.map(({ id }) => id)}::uuid[], ${rows.map(({ accountId }) => accountId)}::uuid[],
          ${rows.map(({ chatId }) => chatId)}::text[], ${rows.map(({ messageId }) => messageId)}::uuid[])`,
      Effect.asVoid,
      Effect.orDie
    )
    /** The replies of chats that have not ended, in the order of the messages that they answer. */
    const open = Effect.fn("AiLogRepo.open")(
      SqlSchema.findAll({
        Request: Schema.Array(Chat),
        Result: AiLog,
        execute: (chats) => sql`/* prepared: ai_logs_open */
          SELECT l.* FROM unnest(${chats.map(({ accountId }) => accountId)}::uuid[],
            ${chats.map(({ chatId }) => chatId)}::text[]) AS k (account_id, chat_id)
          CROSS JOIN LATERAL (
            SELECT * FROM ai_logs WHERE account_id = k.account_id AND chat_id = k.chat_id
            AND status IN ('pending', 'generated') ORDER BY id LIMIT 100
          ) l ORDER BY l.id`
      }),
      Effect.orDie
    )
    const countOpen = Effect.fn("AiLogRepo.countOpen")(
      SqlSchema.single({
        Request: Schema.Void,
        Result: Count,
        execute: () => sql`SELECT count(*)::int AS count FROM ai_logs WHERE status IN ('pending', 'generated')`
      }),
      Effect.map(({ count }) => count),
      Effect.orDie
    )
    /** Writes new states over those that were read, and answers the ids of which nobody else was faster. */
    const move = Effect.fn("AiLogRepo.move")(
      (moves: ReadonlyArray<Move>) => sql`/* prepared: ai_logs_move */
        UPDATE ai_logs l SET status = n.status, reason = n.reason, reply_message_id = n."replyMessageId",
          model_name = n."modelName", prompt_tokens = n."promptTokens", completion_tokens = n."completionTokens",
          latency_ms = n."latencyMs", reply = n.reply, detail = n.detail
        FROM json_to_recordset(${JSON.stringify(moves.map(moveOf))}::json) AS n (id uuid, was text,
          "wasReplyMessageId" uuid, status text, reason text, "replyMessageId" uuid, "modelName" text,
          "promptTokens" integer, "completionTokens" integer, "latencyMs" integer, reply text, detail text)
        WHERE l.id = n.id AND l.status = n.was AND l.reply_message_id IS NOT DISTINCT FROM n."wasReplyMessageId"
        RETURNING l.id`,
      Effect.flatMap(Schema.decodeUnknown(Ids)),
      Effect.map((rows) => new Set(rows.map(({ id }) => id))),
      Effect.orDie
    )
    /** For each chat, its replies to messages since a moment that went out. */
    const sentSince = Effect.fn("AiLogRepo.sentSince")(
      (chats: ReadonlyArray<typeof Chat.Type>, since: DateTime.Utc) => sql`/* prepared: ai_logs_sent_since */
        SELECT (
          SELECT count(*)::int FROM ai_logs WHERE account_id = k.account_id AND chat_id = k.chat_id
          AND id >= ${firstIdAt(since)}::uuid AND status = 'sent') AS count
        FROM unnest(${chats.map(({ accountId }) => accountId)}::uuid[],
          ${chats.map(({ chatId }) => chatId)}::text[]) WITH ORDINALITY AS k (account_id, chat_id, nth) ORDER BY nth`,
      Effect.flatMap(Schema.decodeUnknown(Schema.Array(Count))),
      Effect.map((rows) => rows.map(({ count }) => count)),
      Effect.orDie
    )
    const page = Effect.fn("AiLogRepo.page")(
      SqlSchema.findAll({
        Request: Query,
        Result: AiLog,
        execute: ({ accountId, before, chatId, limit, status }) => sql`
          SELECT * FROM ai_logs WHERE (${accountId}::uuid IS NULL OR account_id = ${accountId}::uuid)
          AND (${chatId}::text IS NULL OR chat_id = ${chatId}::text)
          AND (${status}::text IS NULL OR status = ${status}::text)
          AND (${before}::uuid IS NULL OR id < ${before}::uuid) ORDER BY id DESC LIMIT ${limit}`
      }),
      Effect.orDie
    )
    return { insert, open, countOpen, move, sentSince, page } as const
  })
}) {}
