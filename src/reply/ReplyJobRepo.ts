import { SqlClient, SqlSchema } from "@effect/sql"
import { DateTime, Effect, Option, Schema } from "effect"
import { AiLog, AiLogId } from "./domain/AiLog.ts"

const Chat = Schema.Struct({ accountId: Schema.String, chatId: Schema.String })
const Due = Schema.Struct({ chatId: Schema.String, dueAt: Schema.DateTimeUtcFromDate })
const Head = Schema.Struct({
  ...AiLog.fields,
  isCurrent: Schema.Boolean,
  dueAt: Schema.OptionFromNullOr(Schema.DateTimeUtcFromDate)
})
const Part = Schema.Struct({ ...AiLog.fields, partId: Schema.UUID, position: Schema.Int, isLast: Schema.Boolean })
interface NewPart {
  readonly messageId: string
  readonly logId: string
  readonly position: number
  readonly isLast: boolean
}
const Finished = Schema.Array(Schema.Struct({ id: AiLogId, hasNext: Schema.Boolean }))
const Ids = Schema.Array(Schema.Struct({ id: AiLogId }))

/**
 * The replies of one chat: at most one is `current`, from its evaluation until the channel has sent it; `answered_until` is
 * the last that has ended, and none before it begins any more. `waiting` counts those that have not ended. Every change says
 * what it found: a second worker, or one that woke up late, changes nothing.
 */
export class ReplyJobRepo extends Effect.Service<ReplyJobRepo>()("gatehouse/reply/ReplyJobRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const isOne = Effect.map((rows: ReadonlyArray<unknown>) => rows.length === 1)

    /** The chats of replies, with their ids. */
    const keyed = (logs: ReadonlyArray<AiLog>) => sql`
      unnest(${logs.map(({ accountId }) => accountId)}::uuid[], ${logs.map(({ chatId }) => chatId)}::text[],
        ${logs.map(({ id }) => id)}::uuid[]) WITH ORDINALITY AS k (account_id, chat_id, id, nth)`

    /**
     * More to answer in these chats: at once, unless a reply is under way there or the customer is given time. Who locks
     * several jobs does so in one order.
     */
    const arrive = Effect.fn("ReplyJobRepo.arrive")(
      (
        chats: ReadonlyArray<{ accountId: string; chatId: string; waiting: number }>,
        now: DateTime.Utc
      ) => sql`/* prepared: reply_jobs_arrive */
        INSERT INTO reply_jobs AS job (account_id, chat_id, waiting, due_at)
        SELECT k.account_id, k.chat_id, k.waiting, ${DateTime.toDateUtc(now)}::timestamptz
        FROM unnest(${chats.map(({ accountId }) => accountId)}::uuid[], ${chats.map(({ chatId }) => chatId)}::text[],
          ${chats.map(({ waiting }) => waiting)}::int[]) AS k (account_id, chat_id, waiting)
        ORDER BY k.account_id, k.chat_id COLLATE "C"
        ON CONFLICT (account_id, chat_id) DO UPDATE SET
          waiting = job.waiting + excluded.waiting,
          due_at = CASE WHEN job.current IS NULL THEN coalesce(job.due_at, excluded.due_at) ELSE job.due_at END`,
      Effect.asVoid,
      Effect.orDie
    )
    /** The chats of an account with something to do, the most urgent first, and after those the next one that is not due. */
    const due = Effect.fn("ReplyJobRepo.due")(
      SqlSchema.findAll({
        Request: Schema.Struct({
          accountId: Schema.String,
          limit: Schema.Int,
          but: Schema.Array(Schema.String),
          now: Schema.DateTimeUtcFromDate
        }),
        Result: Due,
        execute: ({ accountId, but, limit, now }) => sql`/* prepared: reply_jobs_due */
          (SELECT chat_id, due_at FROM reply_jobs WHERE account_id = ${accountId} AND due_at <= ${now}::timestamptz
            AND chat_id <> ALL(${but}::text[]) ORDER BY due_at LIMIT ${limit})
          UNION ALL (SELECT chat_id, due_at FROM reply_jobs WHERE account_id = ${accountId} AND due_at > ${now}::timestamptz
            AND chat_id <> ALL(${but}::text[]) ORDER BY due_at LIMIT 1)`
      }),
      Effect.orDie
    )
    /** Those of the accounts that have something to do, whether it is due yet or not. */
    const dueAmong = Effect.fn("ReplyJobRepo.dueAmong")(
      SqlSchema.findAll({
        Request: Schema.Array(Schema.String),
        Result: Schema.Struct({ accountId: Schema.String }),
        execute: (accountIds) => sql`/* prepared: reply_jobs_due_among */
          SELECT DISTINCT account_id FROM reply_jobs WHERE account_id = ANY(${accountIds}::uuid[]) AND due_at IS NOT NULL`
      }),
      Effect.orDie
    )
    const headRows = SqlSchema.findAll({
      Request: Schema.Array(Chat),
      Result: Head,
      execute: (chats) => sql`/* prepared: reply_jobs_heads */
        SELECT l.*, job.current IS NOT NULL AS is_current, job.due_at
        FROM unnest(${chats.map(({ accountId }) => accountId)}::uuid[],
          ${chats.map(({ chatId }) => chatId)}::text[]) AS k (account_id, chat_id)
        JOIN reply_jobs job USING (account_id, chat_id)
        CROSS JOIN LATERAL (
          SELECT * FROM ai_logs WHERE account_id = k.account_id AND chat_id = k.chat_id
          AND status IN ('pending', 'generated') AND (job.current IS NULL OR id = job.current) ORDER BY id LIMIT 1
        ) l`
    })
    /** Of each chat the reply to go on with: the one under way, else the first that waits. None where none is open. */
    const heads = Effect.fn("ReplyJobRepo.heads")(function* (chats: ReadonlyArray<typeof Chat.Type>) {
      const rows = yield* headRows(chats)
      return rows.map(({ dueAt, isCurrent, ...log }) => ({ log: AiLog.make(log, true), isCurrent, dueAt }))
    }, Effect.orDie)
    /** Makes replies the ones of their chats, and answers which: none where there is one, or one after it has ended. */
    const begin = Effect.fn("ReplyJobRepo.begin")(
      (logs: ReadonlyArray<AiLog>) => sql`/* prepared: reply_jobs_begin */
        WITH locked AS (
          SELECT job.account_id, job.chat_id, k.id FROM ${keyed(logs)}
          JOIN reply_jobs job USING (account_id, chat_id)
          WHERE job.current IS NULL AND (job.answered_until IS NULL OR job.answered_until < k.id) OR job.current = k.id
          ORDER BY job.account_id, job.chat_id COLLATE "C" FOR UPDATE OF job
        )
        UPDATE reply_jobs job SET current = locked.id FROM locked
        WHERE job.account_id = locked.account_id AND job.chat_id = locked.chat_id RETURNING locked.id`,
      Effect.flatMap(Schema.decodeUnknown(Ids)),
      Effect.map((rows) => new Set(rows.map(({ id }) => id))),
      Effect.orDie
    )
    /** The chats' replies go on at a moment; none: when the channel has sent them. Answers which were under way. */
    const goOn = Effect.fn("ReplyJobRepo.goOn")(
      (moves: ReadonlyArray<{ readonly log: AiLog; readonly at: Option.Option<DateTime.Utc> }>) => {
        const moments = moves.map(({ at }) => Option.getOrNull(Option.map(at, DateTime.formatIso)))
        return sql`/* prepared: reply_jobs_go_on */
          WITH locked AS (
            SELECT job.account_id, job.chat_id, k.id, t.due_at FROM ${keyed(moves.map(({ log }) => log))}
            JOIN unnest(${moments}::timestamptz[]) WITH ORDINALITY AS t (due_at, nth) USING (nth)
            JOIN reply_jobs job USING (account_id, chat_id) WHERE job.current = k.id
            ORDER BY job.account_id, job.chat_id COLLATE "C" FOR UPDATE OF job
          )
          UPDATE reply_jobs job SET due_at = locked.due_at FROM locked
          WHERE job.account_id = locked.account_id AND job.chat_id = locked.chat_id RETURNING locked.id`
      },
      Effect.flatMap(Schema.decodeUnknown(Ids)),
      Effect.map((rows) => new Set(rows.map(({ id }) => id))),
      Effect.orDie
    )
    /** Replies that were under way have ended. Answers those after which another one waits: it is due. */
    const finish = Effect.fn("ReplyJobRepo.finish")(
      (logs: ReadonlyArray<AiLog>, now: DateTime.Utc) => sql`/* prepared: reply_jobs_finish */
        WITH locked AS (
          SELECT job.account_id, job.chat_id, k.id FROM ${keyed(logs)}
          JOIN reply_jobs job USING (account_id, chat_id) WHERE job.current = k.id
          ORDER BY job.account_id, job.chat_id COLLATE "C" FOR UPDATE OF job
        )
        UPDATE reply_jobs job SET current = NULL, waiting = job.waiting - 1,
          answered_until = greatest(job.answered_until, locked.id),
          due_at = CASE WHEN job.waiting > 1 THEN ${DateTime.toDateUtc(now)}::timestamptz END
        FROM locked WHERE job.account_id = locked.account_id AND job.chat_id = locked.chat_id
        RETURNING locked.id, job.due_at IS NOT NULL AS has_next`,
      Effect.flatMap(Schema.decodeUnknown(Finished)),
      Effect.map((rows) => new Set(rows.filter(({ hasNext }) => hasNext).map(({ id }) => id))),
      Effect.orDie
    )
    /** Nothing is under way, and nothing begins before a moment. */
    const wait = Effect.fn("ReplyJobRepo.wait")(
      (chat: typeof Chat.Type, until: DateTime.Utc) => sql`
        UPDATE reply_jobs SET due_at = ${DateTime.toDateUtc(until)}
        WHERE account_id = ${chat.accountId} AND chat_id = ${chat.chatId} AND current IS NULL`,
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
    /** Messages, in order, that are the parts of their reply. */
    const addParts = Effect.fn("ReplyJobRepo.addParts")(
      (parts: ReadonlyArray<NewPart>) => sql`/* prepared: reply_parts_insert */
        INSERT INTO reply_parts (message_id, log_id, position, is_last)
        SELECT * FROM unnest(${parts.map(({ messageId }) => messageId)}::uuid[], ${parts.map(({ logId }) => logId)}::uuid[],
          ${parts.map(({ position }) => position)}::int[], ${parts.map(({ isLast }) => isLast)}::bool[])`,
      Effect.asVoid,
      Effect.orDie
    )
    const partRows = SqlSchema.findAll({
      Request: Schema.Array(Schema.String),
      Result: Part,
      execute: (messageIds) => sql`/* prepared: reply_parts_of */
        SELECT ai_logs.*, reply_parts.message_id AS part_id, position, is_last
        FROM reply_parts JOIN ai_logs ON ai_logs.id = log_id WHERE reply_parts.message_id = ANY(${messageIds}::uuid[])`
    })
    /** The replies that outgoing messages are parts of, by message. */
    const parts = Effect.fn("ReplyJobRepo.parts")(function* (messageIds: ReadonlyArray<string>) {
      const rows = yield* partRows(messageIds)
      return new Map(
        rows.map((row) => {
          const part = { log: AiLog.make(row, true), isFirst: row.position === 0, isLast: row.isLast }
          return [row.partId, part] as const
        })
      )
    }, Effect.orDie)
    return { arrive, due, dueAmong, heads, begin, goOn, finish, wait, end, addParts, parts } as const
  })
}) {}
