import { SqlClient, SqlSchema, type Statement } from "@effect/sql"
import { DateTime, Effect, Option, Schema } from "effect"
import type { SentMessage } from "../platform/Platform.ts"
import { MessageType } from "../platform/domain/PlatformEvent.ts"
import { ChannelId } from "./domain/Channel.ts"
import type { Pacing } from "./domain/Pacing.ts"
import { mayComeFrom, Message, MessageId, type MessageStatus } from "./domain/Message.ts"

/** A new message, stored at that moment. */
interface NewRow {
  readonly message: Message
  readonly createdAt: DateTime.Utc
}
/** As `messages_insert` reads it. Written out: a schema would cost more than the statement, for every message. */
const rowOf = ({ createdAt, message }: NewRow) => ({
  ...message,
  platformMessageId: Option.getOrNull(message.platformMessageId),
  sender: Option.getOrNull(message.sender),
  recipient: Option.getOrNull(message.recipient),
  error: Option.getOrNull(message.error),
  notBefore: Option.getOrNull(Option.map(message.notBefore, DateTime.formatIso)),
  timestamp: DateTime.formatIso(message.timestamp),
  createdAt: DateTime.formatIso(createdAt)
})
const WindowRow = Schema.Struct({
  nth: Schema.Int,
  id: MessageId,
  direction: Schema.Literal("incoming", "outgoing"),
  type: MessageType,
  body: Schema.String
})
const Own = Schema.Struct({ id: MessageId, isOpen: Schema.Boolean })
const Unsent = Schema.Struct({ ...Message.fields, isOpening: Schema.Boolean })
const Mark = Schema.OptionFromNullOr(Schema.DateTimeUtcFromDate)
const MarksRow = Schema.Struct({ latest: Mark, perMinute: Mark, perHour: Mark, perDay: Mark, newChats: Mark })
type Caps = Omit<Pacing, "gap_seconds">
const Ids = Schema.Array(Schema.Struct({ id: MessageId }))

export class MessageRepo extends Effect.Service<MessageRepo>()("gatehouse/channel/MessageRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /** Stores what is new and answers the ids of that: a message of the platform is stored once. */
    const insert = Effect.fn("MessageRepo.insert")(
      (rows: ReadonlyArray<NewRow>) => sql`/* prepared: messages_insert */
        INSERT INTO messages (id, channel_id, chat_id, chat_type, platform_message_id, direction, type, sender, recipient,
          body, status, error, source, not_before, timestamp, created_at)
        SELECT * FROM json_to_recordset(${JSON.stringify(rows.map(rowOf))}::json) AS n (id uuid, "channelId" uuid,
          "chatId" text, "chatType" text, "platformMessageId" text, direction text, type text, sender text, recipient text,
          body text, status text, error text, source text, "notBefore" timestamptz, timestamp timestamptz,
          "createdAt" timestamptz)
        ON CONFLICT DO NOTHING RETURNING id`,
      Effect.flatMap(Schema.decodeUnknown(Ids)),
      Effect.map((found) => new Set(found.map(({ id }) => id))),
      Effect.orDie
    )
    const byId = Effect.fn("MessageRepo.byId")(
      SqlSchema.findOne({
        Request: Schema.String,
        Result: Message,
        execute: (id) => sql`SELECT * FROM messages WHERE id = ${id}`
      }),
      Effect.orDie
    )
    const byIds = Effect.fn("MessageRepo.byIds")(
      SqlSchema.findAll({
        Request: Schema.Array(Schema.String),
        Result: Message,
        execute: (ids) => sql`SELECT * FROM messages WHERE id = ANY(${ids}::uuid[])`
      }),
      Effect.orDie
    )
    /** Messages that nobody was told of and that will not be sent; not one that was noted as sent meanwhile. */
    const remove = Effect.fn("MessageRepo.remove")(
      (ids: ReadonlyArray<string>) => sql`
        DELETE FROM messages WHERE id = ANY(${ids}::uuid[]) AND status IN ('queued', 'sending')`,
      Effect.asVoid,
      Effect.orDie
    )
    /** Which of these client ids are ids of outgoing messages of the channel, and whether they are known to be sent. */
    const ownAmong = Effect.fn("MessageRepo.ownAmong")(
      SqlSchema.findAll({
        Request: Schema.Struct({ channelId: ChannelId, ids: Schema.Array(Schema.String) }),
        Result: Own,
        execute: ({ channelId, ids }) => sql`/* prepared: messages_own_among */
          SELECT id, status IN ('queued', 'sending') AS is_open FROM messages
          WHERE channel_id = ${channelId} AND id = ANY(${ids}::uuid[]) AND direction = 'outgoing'`
      }),
      Effect.orDie
    )
    const page = Effect.fn("MessageRepo.page")(
      SqlSchema.findAll({
        Request: Schema.Struct({
          channelId: ChannelId,
          chatId: Schema.String,
          before: Schema.NullOr(Schema.UUID),
          limit: Schema.Int
        }),
        Result: Message,
        execute: ({ before, channelId, chatId, limit }) => sql`
          SELECT * FROM messages WHERE channel_id = ${channelId} AND chat_id = ${chatId}
          AND (${before}::uuid IS NULL OR id < ${before}::uuid) ORDER BY id DESC LIMIT ${limit}`
      }),
      Effect.orDie
    )
    /**
     * For each of several questions the last messages of a chat, newest first, without what came in after one and what
     * never arrived. Answers with the position of the question.
     */
    const windows = Effect.fn("MessageRepo.windows")(
      SqlSchema.findAll({
        Request: Schema.Array(
          Schema.Struct({
            channelId: Schema.String,
            chatId: Schema.String,
            upTo: Schema.NullOr(Schema.String),
            limit: Schema.Int
          })
        ),
        Result: WindowRow,
        execute: (asked) => sql`/* prepared: message_windows */
          SELECT k.nth::int AS nth, w.* FROM unnest(${asked.map(({ channelId }) => channelId)}::uuid[],
            ${asked.map(({ chatId }) => chatId)}::text[], ${asked.map(({ upTo }) => upTo)}::uuid[],
            ${asked.map(({ limit }) => limit)}::int[]) WITH ORDINALITY AS k (channel_id, chat_id, up_to, most, nth)
          CROSS JOIN LATERAL (
            SELECT id, direction, type, body FROM messages m WHERE m.channel_id = k.channel_id AND m.chat_id = k.chat_id
            AND (m.direction = 'outgoing' OR k.up_to IS NULL OR m.id <= k.up_to) AND m.status NOT IN ('failed', 'deleted')
            ORDER BY m.id DESC LIMIT k.most
          ) w ORDER BY k.nth, w.id DESC`
      }),
      Effect.orDie
    )
    /**
     * Of each channel the oldest that is first in its chat and does not wait for a later moment. A reply that is being
     * typed holds up its own parts and replies after it, and nothing that is to be sent at once.
     */
    const nextUnsent = Effect.fn("MessageRepo.nextUnsent")(
      SqlSchema.findAll({
        Request: Schema.Array(Schema.Struct({ channelId: ChannelId, now: Schema.DateTimeUtc })),
        Result: Unsent,
        execute: (asked) => sql`/* prepared: messages_next_unsent */
          SELECT m.*, m.chat_id NOT LIKE 'pb:%' AND NOT EXISTS (
            SELECT 1 FROM chats c WHERE c.channel_id = m.channel_id AND c.chat_id = m.chat_id) AS is_opening
          FROM unnest(${asked.map(({ channelId }) => channelId)}::uuid[],
            ${asked.map(({ now }) => now)}::timestamptz[]) AS k (channel_id, now)
          CROSS JOIN LATERAL (
            SELECT * FROM messages m WHERE m.channel_id = k.channel_id AND m.status IN ('queued', 'sending')
            AND (m.not_before IS NULL OR m.not_before <= k.now OR m.status = 'sending')
            AND NOT EXISTS (SELECT 1 FROM messages e WHERE e.channel_id = m.channel_id AND e.chat_id = m.chat_id
              AND e.id < m.id AND e.status IN ('queued', 'sending')
              AND (m.source = 'ai' AND m.not_before IS NOT NULL OR e.source <> 'ai' OR e.not_before IS NULL
                OR e.not_before <= k.now))
            ORDER BY m.id LIMIT 1
          ) m`
      }),
      Effect.orDie
    )
    /** When the first of those that wait for a later moment may be tried. */
    const nextMoment = Effect.fn("MessageRepo.nextMoment")(
      SqlSchema.findOne({
        Request: Schema.Struct({ channelId: ChannelId, now: Schema.DateTimeUtcFromDate }),
        Result: Schema.Struct({ notBefore: Schema.DateTimeUtcFromDate }),
        execute: ({ channelId, now }) => sql`
          SELECT not_before FROM messages WHERE channel_id = ${channelId} AND status IN ('queued', 'sending')
          AND not_before > ${now} ORDER BY not_before LIMIT 1`
      }),
      Effect.map(Option.map(({ notBefore }) => notBefore)),
      Effect.orDie
    )
    /** The sends that decide when this one may be (`Marks`). */
    const marks = Effect.fn("MessageRepo.marks")(
      (channelId: ChannelId, id: MessageId, caps: Caps) => {
        const nth = (back: number | null, only: Statement.Fragment) => sql`(
          SELECT tried_at FROM messages WHERE channel_id = ${channelId} AND tried_at IS NOT NULL AND id <> ${id} ${only}
          ORDER BY tried_at DESC LIMIT ${back === null ? 0 : 1} OFFSET ${(back ?? 1) - 1})`
        return sql`SELECT ${nth(1, sql``)} AS latest, ${nth(caps.per_minute, sql``)} AS per_minute,
          ${nth(caps.per_hour, sql``)} AS per_hour, ${nth(caps.per_day, sql``)} AS per_day,
          ${nth(caps.new_chats_per_day, sql`AND opens_chat`)} AS new_chats`
      },
      Effect.flatMap(Schema.decodeUnknown(Schema.Tuple(MarksRow))),
      Effect.map(([row]) => row),
      Effect.orDie
    )
    /** Committed before the platform is asked. */
    const begin = Effect.fn("MessageRepo.begin")(
      (begun: ReadonlyArray<{ readonly id: MessageId; readonly isOpening: boolean; readonly at: DateTime.Utc }>) =>
        sql`/* prepared: messages_begin */
          UPDATE messages m SET status = 'sending', error = NULL, not_before = NULL, tried_at = n.at, opens_chat = n.opening
          FROM unnest(${begun.map(({ id }) => id)}::uuid[], ${begun.map(({ isOpening }) => isOpening)}::boolean[],
            ${begun.map(({ at }) => DateTime.formatIso(at))}::timestamptz[]) AS n (id, opening, at)
          WHERE m.id = n.id AND m.status IN ('queued', 'sending')`,
      Effect.asVoid,
      Effect.orDie
    )
    /** Lets one message, or all that are queued in its channel, wait at least until then. */
    const defer = Effect.fn("MessageRepo.defer")(
      (channelId: ChannelId, id: Option.Option<MessageId>, until: DateTime.Utc) => sql`
        UPDATE messages SET not_before = greatest(not_before, ${DateTime.toDateUtc(until)})
        WHERE channel_id = ${channelId} AND status = 'queued'
        AND id = coalesce(${Option.getOrNull(id)}::uuid, id)`,
      Effect.asVoid,
      Effect.orDie
    )
    /** A bound that no longer holds: what it kept waiting may be looked at again. */
    const undefer = Effect.fn("MessageRepo.undefer")(
      (channelId: ChannelId) => sql`
        UPDATE messages SET not_before = NULL
        WHERE channel_id = ${channelId} AND status = 'queued' AND not_before IS NOT NULL`,
      Effect.asVoid,
      Effect.orDie
    )
    /** Channels with messages that may be tried by now. */
    const channelsWithUnsent = Effect.fn("MessageRepo.channelsWithUnsent")(
      SqlSchema.findAll({
        Request: Schema.DateTimeUtcFromDate,
        Result: Schema.Struct({ channelId: ChannelId }),
        execute: (now) => sql`
          SELECT DISTINCT channel_id FROM messages
          WHERE status IN ('queued', 'sending') AND (not_before IS NULL OR not_before <= ${now})`
      }),
      Effect.orDie
    )
    /** False when the message is in no status that may become `to`. */
    const move = Effect.fn("MessageRepo.move")(
      (id: MessageId, to: MessageStatus, error: Option.Option<string>) => sql`
        UPDATE messages SET status = ${to}, error = ${Option.getOrNull(error)}
        WHERE id = ${id} AND status = ANY(${mayComeFrom(to)}::text[]) RETURNING id`,
      Effect.map((rows) => rows.length === 1),
      Effect.orDie
    )
    /**
     * Notes that the platform has messages; answers those of which that was not noted before. The platform's id is left
     * out where another row has it: the platform may have shown the message without the id that we gave it.
     */
    const markSent = Effect.fn("MessageRepo.markSent")(
      (sent: ReadonlyArray<{ readonly id: MessageId } & SentMessage>) => sql`/* prepared: messages_mark_sent */
        UPDATE messages m SET status = 'sent', error = NULL, chat_id = n.chat_id, timestamp = n.timestamp,
          platform_message_id = CASE WHEN NOT EXISTS (
            SELECT 1 FROM messages o WHERE o.id <> m.id AND o.channel_id = m.channel_id AND o.chat_id = n.chat_id
            AND o.platform_message_id = n.platform_message_id) THEN n.platform_message_id END
        FROM unnest(${sent.map(({ id }) => id)}::uuid[], ${sent.map(({ chatId }) => chatId)}::text[],
          ${sent.map(({ platformMessageId }) => platformMessageId)}::text[],
          ${sent.map(({ timestamp }) => DateTime.formatIso(timestamp))}::timestamptz[]
        ) AS n (id, chat_id, platform_message_id, timestamp)
        WHERE m.id = n.id AND m.status IN ('queued', 'sending') RETURNING m.id`,
      Effect.flatMap(Schema.decodeUnknown(Ids)),
      Effect.map((rows) => new Set(rows.map(({ id }) => id))),
      Effect.orDie
    )
    /** What is queued to one name of a chat goes on under another. */
    const readdress = Effect.fn("MessageRepo.readdress")(
      (row: { readonly channelId: ChannelId; readonly alias: string; readonly chatId: string }) => sql`
        UPDATE messages SET chat_id = ${row.chatId}
        WHERE channel_id = ${row.channelId} AND chat_id = ${row.alias} AND status IN ('queued', 'sending')`,
      Effect.asVoid,
      Effect.orDie
    )
    return {
      insert,
      byId,
      byIds,
      remove,
      ownAmong,
      page,
      windows,
      nextUnsent,
      nextMoment,
      marks,
      begin,
      defer,
      undefer,
      channelsWithUnsent,
      move,
      markSent,
      readdress
    } as const
  })
}) {}
