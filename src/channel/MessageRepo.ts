import { SqlClient, SqlSchema } from "@effect/sql"
import { DateTime, Effect, Option, Schema } from "effect"
import type { SentMessage } from "../platform/Platform.ts"
import { MessageType } from "../platform/domain/PlatformEvent.ts"
import { ChannelId } from "./domain/Channel.ts"
import { Message, MessageId, type MessageStatus } from "./domain/Message.ts"

const Row = Schema.Struct({ ...Message.fields, createdAt: Schema.DateTimeUtcFromDate })
const WindowRow = Schema.Struct({
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
            ON CONFLICT (channel_id, chat_id, platform_message_id) DO NOTHING RETURNING id`
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
    /** The last messages of a chat up to and with one, newest first. */
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
          SELECT direction, type, body FROM messages WHERE channel_id = ${channelId} AND chat_id = ${chatId}
          AND id <= ${upTo} AND status NOT IN ('failed', 'deleted') ORDER BY id DESC LIMIT ${limit}`
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
    const setStatus = Effect.fn("MessageRepo.setStatus")(
      (id: MessageId, status: MessageStatus, error: Option.Option<string>) => sql`
        UPDATE messages SET status = ${status}, error = ${Option.getOrNull(error)}
        WHERE id = ${id} AND status IN ('queued', 'sending') RETURNING id`,
      Effect.map((rows) => rows.length === 1),
      Effect.orDie
    )
    /** Notes that the platform has the message; false when that was noted before. */
    const markSent = Effect.fn("MessageRepo.markSent")(
      (id: MessageId, sent: SentMessage) => sql`
        UPDATE messages SET status = 'sent', error = NULL, chat_id = ${sent.chatId},
          platform_message_id = ${sent.platformMessageId}, timestamp = ${DateTime.toDateUtc(sent.timestamp)}
        WHERE id = ${id} AND status IN ('queued', 'sending') RETURNING id`,
      Effect.map((rows) => rows.length === 1),
      Effect.orDie
    )
    return { insert, byId, ownAmong, page, window, nextUnsent, setStatus, markSent } as const
  })
}) {}
