import { SqlClient, SqlSchema } from "@effect/sql"
import { DateTime, Effect, Option, Schema } from "effect"
import type { ChatType } from "../platform/domain/PlatformEvent.ts"
import type { ChatMode } from "../reply/domain/AiSettings.ts"
import { ChannelId } from "./domain/Channel.ts"
import { Chat } from "./domain/Chat.ts"
import type { MessageId } from "./domain/Message.ts"

const Answerable = Schema.Struct({
  ...Chat.fields,
  humanWroteAt: Schema.OptionFromNullOr(Schema.DateTimeUtcFromDate)
})

export class ChatRepo extends Effect.Service<ChatRepo>()("gatehouse/channel/ChatRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const byId = Effect.fn("ChatRepo.byId")(
      SqlSchema.findOne({
        Request: Schema.Struct({ channelId: Schema.String, chatId: Schema.String }),
        Result: Chat,
        execute: ({ channelId, chatId }) =>
          sql`SELECT * FROM chats WHERE channel_id = ${channelId} AND chat_id = ${chatId}`
      }),
      Effect.orDie
    )
    /** A chat, and when a person last wrote in it in the channel's name. */
    const answerable = Effect.fn("ChatRepo.answerable")(
      SqlSchema.findOne({
        Request: Schema.Struct({ channelId: Schema.String, chatId: Schema.String }),
        Result: Answerable,
        execute: ({ channelId, chatId }) => sql`
          SELECT chats.*, (SELECT max(timestamp) FROM messages WHERE channel_id = ${channelId}
            AND chat_id = ${chatId} AND source = 'manual') AS human_wrote_at
          FROM chats WHERE channel_id = ${channelId} AND chat_id = ${chatId}`
      }),
      Effect.orDie
    )
    /** The chat stays as it is until the transaction ends. */
    const hold = Effect.fn("ChatRepo.hold")(
      ({ channelId, chatId }: { readonly channelId: string; readonly chatId: string }) =>
        sql`SELECT 1 FROM chats WHERE channel_id = ${channelId} AND chat_id = ${chatId} FOR SHARE`,
      Effect.asVoid,
      Effect.orDie
    )
    /** Counts what happened in a chat; true when the chat was not known before. */
    const touch = Effect.fn("ChatRepo.touch")(
      (chat: {
        readonly channelId: ChannelId
        readonly chatId: string
        readonly type: ChatType
        readonly name: Option.Option<string>
        readonly unread: number
        readonly lastMessageId: MessageId
        readonly lastMessageAt: DateTime.Utc
      }) => sql`
        INSERT INTO chats ${sql.insert({
          channelId: chat.channelId,
          chatId: chat.chatId,
          type: chat.type,
          name: Option.getOrNull(chat.name),
          unreadCount: chat.unread,
          lastMessageId: chat.lastMessageId,
          lastMessageAt: DateTime.toDateUtc(chat.lastMessageAt),
          createdAt: DateTime.toDateUtc(chat.lastMessageAt)
        })}
        ON CONFLICT (channel_id, chat_id) DO UPDATE SET
          unread_count = chats.unread_count + excluded.unread_count,
          last_message_id = greatest(chats.last_message_id, excluded.last_message_id),
          last_message_at = greatest(chats.last_message_at, excluded.last_message_at),
          name = coalesce(chats.name, excluded.name)
        RETURNING (xmax = 0) AS is_new`,
      Effect.flatMap(Schema.decodeUnknown(Schema.NonEmptyArray(Schema.Struct({ isNew: Schema.Boolean })))),
      Effect.map(([{ isNew }]) => isNew),
      Effect.orDie
    )
    const page = Effect.fn("ChatRepo.page")(
      SqlSchema.findAll({
        Request: Schema.Struct({ channelId: ChannelId, before: Schema.NullOr(Schema.UUID), limit: Schema.Int }),
        Result: Chat,
        execute: ({ before, channelId, limit }) => sql`
          SELECT * FROM chats WHERE channel_id = ${channelId}
          AND (${before}::uuid IS NULL OR last_message_id < ${before}::uuid)
          ORDER BY last_message_id DESC LIMIT ${limit}`
      }),
      Effect.orDie
    )
    const update = Effect.fn("ChatRepo.update")(
      (
        channelId: ChannelId,
        chatId: string,
        changes: {
          readonly isBlocked?: boolean
          readonly name?: string | null
          readonly aiMode?: ChatMode
          readonly customSystemPrompt?: string | null
        }
      ) => sql`UPDATE chats SET ${sql.update(changes)} WHERE channel_id = ${channelId} AND chat_id = ${chatId}`,
      Effect.asVoid,
      Effect.orDie
    )
    /** The chat that another name of the same chat leads to. */
    const canonical = Effect.fn("ChatRepo.canonical")(
      SqlSchema.findOne({
        Request: Schema.Struct({ channelId: ChannelId, alias: Schema.String }),
        Result: Schema.Struct({ chatId: Schema.String }),
        execute: ({ alias, channelId }) =>
          sql`SELECT chat_id FROM chat_aliases WHERE channel_id = ${channelId} AND alias = ${alias}`
      }),
      Effect.map(Option.map(({ chatId }) => chatId)),
      Effect.orDie
    )
    const learn = Effect.fn("ChatRepo.learn")(
      (row: { readonly channelId: ChannelId; readonly alias: string; readonly chatId: string }) => sql`
        INSERT INTO chat_aliases ${sql.insert(row)}
        ON CONFLICT (channel_id, alias) DO UPDATE SET chat_id = excluded.chat_id`,
      Effect.asVoid,
      Effect.orDie
    )
    return { byId, answerable, hold, touch, page, update, canonical, learn } as const
  })
}) {}
