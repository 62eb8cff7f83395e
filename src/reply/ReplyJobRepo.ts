import { SqlClient, SqlSchema } from "@effect/sql"
import { DateTime, Effect, Option, Schema } from "effect"
import { AiLog, type AiLogId } from "./domain/AiLog.ts"
import { ReplyJob } from "./domain/ReplyJob.ts"

const Chat = Schema.Struct({ accountId: Schema.String, chatId: Schema.String })
const Due = Schema.Struct({ chatId: Schema.String, dueAt: Schema.DateTimeUtcFromDate })
const Part = Schema.Struct({ ...AiLog.fields, position: Schema.Int, isLast: Schema.Boolean })

/** Every change says what it found: a second worker, or one that woke up late, changes nothing. */
export class ReplyJobRepo extends Effect.Service<ReplyJobRepo>()("gatehouse/reply/ReplyJobRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const isOne = Effect.map((rows: ReadonlyArray<unknown>) => rows.length === 1)

    /** More to answer in these chats: at once, unless a reply is under way there or the customer is given time. */
    const arrive = Effect.fn("ReplyJobRepo.arrive")(
      (chats: ReadonlyArray<{ accountId: string; chatId: string; waiting: number }>, now: DateTime.Utc) => sql`
        INSERT INTO reply_jobs AS job ${sql.insert(chats.map((chat) => ({ ...chat, dueAt: DateTime.toDateUtc(now) })))}
        ON CONFLICT (account_id, chat_id) DO UPDATE SET
          waiting = job.waiting + excluded.waiting,
          due_at = CASE WHEN job.current IS NULL THEN coalesce(job.due_at, excluded.due_at) ELSE job.due_at END`,
      Effect.asVoid,
      Effect.orDie
    )
    /** The chats of an account with something to do, the most urgent first, whether it is due yet or not. */
    const due = Effect.fn("ReplyJobRepo.due")(
      SqlSchema.findAll({
        Request: Schema.Struct({ accountId: Schema.String, limit: Schema.Int }),
        Result: Due,
        execute: ({ accountId, limit }) => sql`
          SELECT chat_id, due_at FROM reply_jobs WHERE account_id = ${accountId} AND due_at IS NOT NULL
          ORDER BY due_at LIMIT ${limit}`
      }),
      Effect.orDie
    )
    /** Those of the accounts that have something to do, whether it is due yet or not. */
    const dueAmong = Effect.fn("ReplyJobRepo.dueAmong")(
      SqlSchema.findAll({
        Request: Schema.Array(Schema.String),
        Result: Schema.Struct({ accountId: Schema.String }),
        execute: (accountIds) => sql`
          SELECT DISTINCT account_id FROM reply_jobs WHERE account_id = ANY(${accountIds}::uuid[]) AND due_at IS NOT NULL`
      }),
      Effect.orDie
    )
    const byChat = Effect.fn("ReplyJobRepo.byChat")(
      SqlSchema.findOne({
        Request: Chat,
        Result: ReplyJob,
        execute: ({ accountId, chatId }) =>
          sql`SELECT * FROM reply_jobs WHERE account_id = ${accountId} AND chat_id = ${chatId}`
      }),
      Effect.orDie
    )
    /** Makes a reply the one of its chat; false when there is one, or one after it has ended. */
    const begin = Effect.fn("ReplyJobRepo.begin")(
      ({ accountId, chatId, id }: AiLog) => sql`
        UPDATE reply_jobs SET current = ${id}
        WHERE account_id = ${accountId} AND chat_id = ${chatId}
        AND (current IS NULL AND (answered_until IS NULL OR answered_until < ${id}) OR current = ${id}) RETURNING 1`,
      isOne,
      Effect.orDie
    )
    /** The chat's reply goes on at a moment; none: when the channel has sent it. */
    const goOn = Effect.fn("ReplyJobRepo.goOn")(
      ({ accountId, chatId, id }: AiLog, at: Option.Option<DateTime.Utc>) => sql`
        UPDATE reply_jobs SET due_at = ${Option.getOrNull(Option.map(at, DateTime.toDateUtc))}
        WHERE account_id = ${accountId} AND chat_id = ${chatId} AND current = ${id} RETURNING 1`,
      isOne,
      Effect.orDie
    )
    /** Nothing is under way, and nothing begins before a moment. */
    const wait = Effect.fn("ReplyJobRepo.wait")(
      (job: ReplyJob, until: DateTime.Utc) => sql`
        UPDATE reply_jobs SET due_at = ${DateTime.toDateUtc(until)}
        WHERE account_id = ${job.accountId} AND chat_id = ${job.chatId} AND current IS NULL`,
      Effect.asVoid,
      Effect.orDie
    )
    /** So many replies have ended, up to one: the next waiting one is due. `current` is what must be under way. */
    const end = Effect.fn("ReplyJobRepo.end")(
      (last: AiLog, ended: number, current: Option.Option<AiLogId>, now: DateTime.Utc) => sql`
        UPDATE reply_jobs SET current = NULL, waiting = waiting - ${ended},
          answered_until = greatest(answered_until, ${last.id}),
          due_at = CASE WHEN waiting > ${ended} THEN ${DateTime.toDateUtc(now)}::timestamptz END
        WHERE account_id = ${last.accountId} AND chat_id = ${last.chatId}
        AND current IS NOT DISTINCT FROM ${Option.getOrNull(current)}::uuid RETURNING 1`,
      isOne,
      Effect.orDie
    )
    const addParts = Effect.fn("ReplyJobRepo.addParts")(
      (log: AiLog, messageIds: ReadonlyArray<string>) => sql`
        INSERT INTO reply_parts ${sql.insert(
          messageIds.map((messageId, position) => ({
            messageId,
            logId: log.id,
            position,
            isLast: position === messageIds.length - 1
          }))
        )}`,
      Effect.asVoid,
      Effect.orDie
    )
    const partRow = SqlSchema.findOne({
      Request: Schema.String,
      Result: Part,
      execute: (messageId) => sql`
        SELECT ai_logs.*, position, is_last FROM reply_parts JOIN ai_logs ON ai_logs.id = log_id
        WHERE reply_parts.message_id = ${messageId}`
    })
    /** The reply that an outgoing message is a part of. */
    const part = Effect.fn("ReplyJobRepo.part")(function* (messageId: string) {
      const row = yield* partRow(messageId)
      return Option.map(row, (found) => ({
        log: AiLog.make(found),
        isFirst: found.position === 0,
        isLast: found.isLast
      }))
    }, Effect.orDie)
    return { arrive, due, dueAmong, byChat, begin, goOn, wait, end, addParts, part } as const
  })
}) {}
