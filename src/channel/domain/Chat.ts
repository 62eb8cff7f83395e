import { DateTime, Option, Schema } from "effect"
import { ChatType } from "../../platform/domain/PlatformEvent.ts"
import { ChatMode } from "../../reply/domain/AiSettings.ts"
import { ChannelId } from "./Channel.ts"
import { MessageId } from "./Message.ts"

/** A conversation of a channel; `lastMessageId` orders the chats of a channel by their latest activity. */
export class Chat extends Schema.Class<Chat>("Chat")({
  channelId: ChannelId,
  chatId: Schema.String,
  type: ChatType,
  name: Schema.OptionFromNullOr(Schema.String),
  isBlocked: Schema.Boolean,
  unreadCount: Schema.Int,
  lastMessageId: MessageId,
  lastMessageAt: Schema.OptionFromNullOr(Schema.DateTimeUtcFromDate),
  aiMode: ChatMode,
  customSystemPrompt: Schema.OptionFromNullOr(Schema.String)
}) {}

/** The chat in wire form, also `data` of `chat.*` events. */
export const chatItem = (chat: Chat) => ({
  chat_id: chat.chatId,
  account_id: chat.channelId,
  type: chat.type,
  name: Option.getOrNull(chat.name),
  is_blocked: chat.isBlocked,
  unread_count: chat.unreadCount,
  last_message_at: Option.getOrNull(Option.map(chat.lastMessageAt, DateTime.formatIso)),
  ai: { mode: chat.aiMode, custom_system_prompt: Option.getOrNull(chat.customSystemPrompt) }
})
