import { Context, type DateTime, type Effect, type Option } from "effect"
import type { ChatType, MessageType } from "../platform/domain/PlatformEvent.ts"
import type { ChatLayer } from "./domain/AiSettings.ts"
import type { WindowMessage } from "./domain/Conversation.ts"

export interface ReplyChat extends ChatLayer {
  readonly type: ChatType
  /** What a person calls the chat. */
  readonly name: string
  readonly isBlocked: boolean
  /** When a person last wrote in it in the channel's name, on the platform's own app. */
  readonly humanWroteAt: Option.Option<DateTime.Utc>
}

export interface ChatKey {
  readonly accountId: string
  readonly chatId: string
}

export interface ConversationAsked extends ChatKey {
  readonly upTo: Option.Option<string>
  readonly limit: number
}

export interface ReplyMessage {
  readonly id: string
  readonly accountId: string
  readonly to: string
  readonly body: string
  /** It is not sent before. */
  readonly notBefore?: DateTime.Utc
}

export interface MessageKey extends ChatKey {
  readonly messageId: string
}

/** A message that waits for its answer, and its chat: none of what is gone. */
export interface Answerable {
  readonly chat: Option.Option<ReplyChat>
  readonly message: Option.Option<TriggeringMessage>
}

export interface TriggeringMessage {
  readonly type: MessageType
  readonly body: string
  readonly writtenAt: DateTime.Utc
}

/**
 * Port: what a reply needs of the channel that it is sent through. `queue` stores an outgoing message under the id that
 * it will have on the platform, inside the caller's transaction; the channel tells `AiLogs` what became of it.
 */
export class ReplyChannel extends Context.Tag("gatehouse/reply/ReplyChannel")<
  ReplyChannel,
  {
    readonly chat: (key: ChatKey) => Effect.Effect<Option.Option<ChatLayer>>
    /** Keeps chats as they are until the caller's transaction ends: changes wait for it. */
    readonly hold: (keys: ReadonlyArray<ChatKey>) => Effect.Effect<void>
    /** In the order of what is asked for. */
    readonly answerable: (keys: ReadonlyArray<MessageKey>) => Effect.Effect<ReadonlyArray<Answerable>>
    /** For each question the last messages of a chat up to and with one of them, else all, oldest first. */
    readonly windows: (
      asked: ReadonlyArray<ConversationAsked>
    ) => Effect.Effect<ReadonlyArray<ReadonlyArray<WindowMessage>>>
    /** The longest text that a chat takes in one message. */
    readonly longestText: (chatId: string) => number
    readonly queue: (messages: ReadonlyArray<ReplyMessage>) => Effect.Effect<void>
    /** Shows the other side that somebody is typing, for some ten seconds: where the platform has it. */
    readonly typing: (accountId: string, chatId: string) => Effect.Effect<void>
  }
>() {}
