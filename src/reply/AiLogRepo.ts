import { SqlClient, SqlSchema } from "@effect/sql"
import { type DateTime, Effect, Option, Schema } from "effect"
import { firstIdAt } from "../kit/Id.ts"
import { AiLog, type AiLogId, AiLogStatus } from "./domain/AiLog.ts"

const Query = Schema.Struct({
  accountId: Schema.NullOr(Schema.UUID),
  chatId: Schema.NullOr(Schema.String),
  status: Schema.NullOr(AiLogStatus),
  before: Schema.NullOr(Schema.UUID),
  limit: Schema.Int
})

const Chat = Schema.Struct({ accountId: Schema.String, chatId: Schema.String })
const Count = Schema.Struct({ count: Schema.Int })

export class AiLogRepo extends Effect.Service<AiLogRepo>()("gatehouse/reply/AiLogRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const countSent = SqlSchema.single({
      Request: Schema.Struct({ ...Chat.fields, from: Schema.String }),
      Result: Count,
      execute: ({ accountId, chatId, from }) => sql`
        SELECT count(*)::int AS count FROM ai_logs
        WHERE account_id = ${accountId} AND chat_id = ${chatId} AND id >= ${from}::uuid AND status = 'sent'`
    })
    const insert = Effect.fn("AiLogRepo.insert")(
      (
        rows: ReadonlyArray<{
          readonly id: AiLogId
          readonly accountId: string
          readonly chatId: string
          readonly messageId: string
          readonly status: AiLogStatus
          readonly createdAt: Date
        }>
      ) => sql`INSERT INTO ai_logs ${sql.insert(rows)}`,
      Effect.asVoid,
      Effect.orDie
    )
    const byId = Effect.fn("AiLogRepo.byId")(
      SqlSchema.single({
        Request: Schema.String,
        Result: AiLog,
        execute: (id) => sql`SELECT * FROM ai_logs WHERE id = ${id}`
      }),
      Effect.orDie
    )
    /** The replies of a chat that have not ended, in the order of the messages that they answer. */
    const open = Effect.fn("AiLogRepo.open")(
      SqlSchema.findAll({
        Request: Chat,
        Result: AiLog,
        execute: ({ accountId, chatId }) => sql`
          SELECT * FROM ai_logs WHERE account_id = ${accountId} AND chat_id = ${chatId}
          AND status IN ('pending', 'generated') ORDER BY id LIMIT 100`
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
    /** Writes the new state over the one that was read; false when someone else was faster. */
    const move = Effect.fn("AiLogRepo.move")(
      (from: AiLog, to: AiLog) => sql`
        UPDATE ai_logs SET ${sql.update({
          status: to.status,
          reason: Option.getOrNull(to.reason),
          replyMessageId: Option.getOrNull(to.replyMessageId),
          modelName: Option.getOrNull(to.modelName),
          promptTokens: Option.getOrNull(to.promptTokens),
          completionTokens: Option.getOrNull(to.completionTokens),
          latencyMs: Option.getOrNull(to.latencyMs),
          reply: Option.getOrNull(to.reply),
          detail: Option.getOrNull(to.detail)
        })}
        WHERE id = ${from.id} AND status = ${from.status}
        AND reply_message_id IS NOT DISTINCT FROM ${Option.getOrNull(from.replyMessageId)}::uuid RETURNING id`,
      Effect.map((rows) => rows.length === 1),
      Effect.orDie
    )
    /** Replies of a chat to messages since a moment that went out. */
    const sentSince = Effect.fn("AiLogRepo.sentSince")(
      (chat: typeof Chat.Type, since: DateTime.Utc) => countSent({ ...chat, from: firstIdAt(since) }),
      Effect.map(({ count }) => count),
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
    return { insert, byId, open, countOpen, move, sentSince, page } as const
  })
}) {}
