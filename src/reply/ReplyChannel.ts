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
}

export interface TriggeringMessage {
  readonly id: string
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
    /** In the order of what is asked for. */
    readonly chats: (keys: ReadonlyArray<ChatKey>) => Effect.Effect<ReadonlyArray<Option.Option<ReplyChat>>>
    /** Keeps chats as they are until the caller's transaction ends: changes wait for it. */
    readonly hold: (keys: ReadonlyArray<ChatKey>) => Effect.Effect<void>
    readonly messages: (ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<TriggeringMessage>>
    /** For each question the last messages of a chat up to and with one of them, else all, oldest first. */
    readonly windows: (
      asked: ReadonlyArray<ConversationAsked>
    ) => Effect.Effect<ReadonlyArray<ReadonlyArray<WindowMessage>>>
    /** The longest text that a chat takes in one message. */
    readonly longestText: (chatId: string) => number
    readonly queue: (messages: ReadonlyArray<ReplyMessage>) => Effect.Effect<void>
    /** Shows the other side that somebody is typing, for some ten seconds, or no longer: where the platform has it. */
    readonly typing: (accountId: string, chatId: string, isTyping: boolean) => Effect.Effect<void>
  }
>() {}
