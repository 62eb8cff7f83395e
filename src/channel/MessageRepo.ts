import { SqlClient, SqlSchema } from "@effect/sql"
import { DateTime, Effect, Option, Schema } from "effect"
import type { SentMessage } from "../platform/Platform.ts"
import { MessageType } from "../platform/domain/PlatformEvent.ts"
import { ChannelId } from "./domain/Channel.ts"
import { mayComeFrom, Message, MessageId, type MessageStatus } from "./domain/Message.ts"

const Row = Schema.Struct({ ...Message.fields, createdAt: Schema.DateTimeUtcFromDate })
const WindowRow = Schema.Struct({
  id: MessageId,
  direction: Schema.Literal("incoming", "outgoing"),
  type: MessageType,
  body: Schema.String
})
const Ids = Schema.Array(Schema.Struct({ id: MessageId }))

export class MessageRepo extends Effect.Service<MessageRepo>()("gatehouse/channel/MessageRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /** Stores what is new and answers the ids of that: a message of the platform is stored once. */
    const insert = Effect.fn("MessageRepo.insert")(
      (rows: ReadonlyArray<typeof Row.Type>) =>
        Effect.flatMap(
          Schema.encode(Schema.Array(Row))(rows),
          (encoded) => sql`
            INSERT INTO messages ${sql.insert(encoded)}
            ON CONFLICT DO NOTHING RETURNING id`
        ),
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
    /** Which of these client ids are ids of outgoing messages of the channel. */
    const ownAmong = Effect.fn("MessageRepo.ownAmong")(
      SqlSchema.findAll({
        Request: Schema.Struct({ channelId: ChannelId, ids: Schema.Array(Schema.String) }),
        Result: Message,
        execute: ({ channelId, ids }) => sql`
          SELECT * FROM messages WHERE channel_id = ${channelId} AND id::text = ANY(${ids}) AND direction = 'outgoing'`
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
    /** The last messages of a chat, newest first, without what came in after one and what never arrived. */
    const window = Effect.fn("MessageRepo.window")(
      SqlSchema.findAll({
        Request: Schema.Struct({
          channelId: Schema.String,
          chatId: Schema.String,
          upTo: Schema.String,
          limit: Schema.Int
        }),
        Result: WindowRow,
        execute: ({ channelId, chatId, limit, upTo }) => sql`
          SELECT id, direction, type, body FROM messages WHERE channel_id = ${channelId} AND chat_id = ${chatId}
          AND (direction = 'outgoing' OR id <= ${upTo}) AND status NOT IN ('failed', 'deleted')
          ORDER BY id DESC LIMIT ${limit}`
      }),
      Effect.orDie
    )
    const nextUnsent = Effect.fn("MessageRepo.nextUnsent")(
      SqlSchema.findOne({
        Request: ChannelId,
        Result: Message,
        execute: (channelId) => sql`
          SELECT * FROM messages WHERE channel_id = ${channelId} AND status IN ('queued', 'sending') ORDER BY id LIMIT 1`
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
     * Notes that the platform has the message; false when that was noted before. The platform's id is left out where
     * another row has it: the platform may have shown the message without the id that we gave it.
     */
    const markSent = Effect.fn("MessageRepo.markSent")(
      ({ channelId, id }: Message, { chatId, platformMessageId, timestamp }: SentMessage) => sql`
        UPDATE messages SET status = 'sent', error = NULL, chat_id = ${chatId},
          timestamp = ${DateTime.toDateUtc(timestamp)},
          platform_message_id = CASE WHEN NOT EXISTS (
            SELECT 1 FROM messages o WHERE o.channel_id = ${channelId} AND o.chat_id = ${chatId}
            AND o.platform_message_id = ${platformMessageId}::text) THEN ${platformMessageId}::text END
        WHERE id = ${id} AND status IN ('queued', 'sending') RETURNING id`,
      Effect.map((rows) => rows.length === 1),
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
    return { insert, byId, ownAmong, page, window, nextUnsent, move, markSent, readdress } as const
  })
}) {}
