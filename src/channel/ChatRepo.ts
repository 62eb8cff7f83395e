import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
import { ChatType, MessageType } from "../platform/domain/PlatformEvent.ts"
import { ChatMode } from "../reply/domain/AiSettings.ts"
import { ChannelId } from "./domain/Channel.ts"
import { Chat } from "./domain/Chat.ts"
import { MessageId } from "./domain/Message.ts"

const AskedFor = Schema.Array(
  Schema.Struct({ channelId: Schema.String, chatId: Schema.String, messageId: Schema.String })
)
/** Without types where chat or message are gone. */
const Answerable = Schema.Struct({
  chatType: Schema.NullOr(ChatType),
  name: Schema.NullOr(Schema.String),
  isBlocked: Schema.Boolean,
  mode: ChatMode,
  customSystemPrompt: Schema.OptionFromNullOr(Schema.String),
  humanWroteAt: Schema.OptionFromNullOr(Schema.DateTimeUtcFromDate),
  messageType: Schema.NullOr(MessageType),
  body: Schema.String,
  writtenAt: Schema.DateTimeUtcFromDate
})

const Keys = Schema.Array(Schema.Struct({ channelId: Schema.String, chatId: Schema.String }))

const Addressed = Schema.Struct({
  chatId: Schema.String,
  type: Schema.NullOr(ChatType),
  name: Schema.OptionFromNullOr(Schema.String)
})

const Touched = Schema.Struct({
  channelId: ChannelId,
  chatId: Schema.String,
  type: ChatType,
  name: Schema.OptionFromNullOr(Schema.String),
  unread: Schema.Int,
  lastMessageId: MessageId,
  lastMessageAt: Schema.DateTimeUtc
})
const encodeTouched = Schema.encode(Schema.parseJson(Schema.Array(Touched)))

export class ChatRepo extends Effect.Service<ChatRepo>()("gatehouse/channel/ChatRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const keyed = (keys: typeof Keys.Type) => sql`
      unnest(${keys.map(({ channelId }) => channelId)}::uuid[],
        ${keys.map(({ chatId }) => chatId)}::text[]) AS k (channel_id, chat_id)`

    const byId = Effect.fn("ChatRepo.byId")(
      SqlSchema.findOne({
        Request: Schema.Struct({ channelId: Schema.String, chatId: Schema.String }),
        Result: Chat,
        execute: ({ channelId, chatId }) =>
          sql`SELECT * FROM chats WHERE channel_id = ${channelId} AND chat_id = ${chatId}`
      }),
      Effect.orDie
    )
    /** Messages and their chats, and when a person last wrote there in the channel's name: in the order asked for. */
    const answerable = Effect.fn("ChatRepo.answerable")(
      SqlSchema.findAll({
        Request: AskedFor,
        Result: Answerable,
        execute: (asked) => sql`/* prepared: chats_answerable */
          SELECT c.type AS chat_type, c.name, coalesce(c.is_blocked, false) AS is_blocked,
            coalesce(c.ai_mode, 'inherit') AS mode, c.custom_system_prompt,
            (SELECT max(timestamp) FROM messages WHERE channel_id = c.channel_id AND chat_id = c.chat_id
              AND source = 'manual') AS human_wrote_at,
            m.type AS message_type, coalesce(m.body, '') AS body, coalesce(m.timestamp, now()) AS written_at
          FROM unnest(${asked.map(({ channelId }) => channelId)}::uuid[], ${asked.map(({ chatId }) => chatId)}::text[],
            ${asked.map(({ messageId }) => messageId)}::uuid[]) WITH ORDINALITY AS k (channel_id, chat_id, message_id, nth)
          LEFT JOIN chats c USING (channel_id, chat_id) LEFT JOIN messages m ON m.id = k.message_id ORDER BY k.nth`
      }),
      Effect.orDie
    )
    /** Chats stay as they are until the transaction ends. Who locks several does so in one order. */
    const hold = Effect.fn("ChatRepo.hold")(
      (keys: typeof Keys.Type) => sql`/* prepared: chats_hold */
        SELECT 1 FROM ${keyed(keys)} JOIN chats USING (channel_id, chat_id)
        ORDER BY channel_id, chat_id COLLATE "C" FOR SHARE OF chats`,
      Effect.asVoid,
      Effect.orDie
    )
    /** Counts what happened in chats, each named once; answers those that were not known before. */
    const touch = Effect.fn("ChatRepo.touch")(
      (chats: ReadonlyArray<typeof Touched.Type>) =>
        Effect.flatMap(
          encodeTouched(chats),
          (text) => sql`/* prepared: chats_touch */
            WITH touched AS (
              INSERT INTO chats (channel_id, chat_id, type, name, unread_count, last_message_id, last_message_at, created_at)
              SELECT "channelId", "chatId", type, name, unread, "lastMessageId", "lastMessageAt", "lastMessageAt"
              FROM json_to_recordset(${text}::json) AS t ("channelId" uuid, "chatId" text, type text, name text,
                unread integer, "lastMessageId" uuid, "lastMessageAt" timestamptz)
              ORDER BY "channelId", "chatId" COLLATE "C"
              ON CONFLICT (channel_id, chat_id) DO UPDATE SET
                unread_count = chats.unread_count + excluded.unread_count,
                last_message_id = greatest(chats.last_message_id, excluded.last_message_id),
                last_message_at = greatest(chats.last_message_at, excluded.last_message_at),
                name = coalesce(chats.name, excluded.name)
              RETURNING chats.*, (xmax = 0) AS is_new
            )
            SELECT * FROM touched WHERE is_new`
        ),
      Effect.flatMap(Schema.decodeUnknown(Schema.Array(Chat))),
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
    /** What recipients lead to: the chat that one may be another name of, and what is known of it. */
    const addressed = Effect.fn("ChatRepo.addressed")(
      SqlSchema.findAll({
        Request: Keys,
        Result: Addressed,
        execute: (keys) => sql`/* prepared: chats_addressed */
          SELECT coalesce(a.chat_id, k.chat_id) AS chat_id, c.type, c.name
          FROM unnest(${keys.map(({ channelId }) => channelId)}::uuid[],
            ${keys.map(({ chatId }) => chatId)}::text[]) WITH ORDINALITY AS k (channel_id, chat_id, nth)
          LEFT JOIN chat_aliases a ON a.channel_id = k.channel_id AND a.alias = k.chat_id
          LEFT JOIN chats c ON c.channel_id = k.channel_id AND c.chat_id = coalesce(a.chat_id, k.chat_id)
          ORDER BY k.nth`
      }),
      Effect.orDie
    )
    const learn = Effect.fn("ChatRepo.learn")(function* (
      rows: ReadonlyArray<{ readonly channelId: ChannelId; readonly alias: string; readonly chatId: string }>
    ) {
      if (rows.length === 0) return
      yield* sql`/* prepared: chat_aliases_learn */
        INSERT INTO chat_aliases (channel_id, alias, chat_id)
        SELECT * FROM unnest(${rows.map(({ channelId }) => channelId)}::uuid[], ${rows.map(({ alias }) => alias)}::text[],
          ${rows.map(({ chatId }) => chatId)}::text[])
        ON CONFLICT (channel_id, alias) DO UPDATE SET chat_id = excluded.chat_id`
    }, Effect.orDie)
    return { byId, answerable, hold, touch, page, update, addressed, learn } as const
  })
}) {}
