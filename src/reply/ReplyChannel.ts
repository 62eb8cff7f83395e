import { Context, type DateTime, type Effect, type Option } from "effect"
import type { ChatType, MessageType } from "../platform/domain/PlatformEvent.ts"
import type { ChatLayer } from "./domain/AiSettings.ts"
import type { WindowMessage } from "./domain/Conversation.ts"

export interface ReplyChat extends ChatLayer {
  readonly type: ChatType
  readonly isBlocked: boolean
}

export interface TriggeringMessage {
  readonly type: MessageType
  readonly body: string
  readonly writtenAt: DateTime.Utc
}

/**
 * Port: what a reply needs of the channel that it is sent through. `queue` stores the outgoing message under the id that
 * it will have on the platform, inside the caller's transaction; `sent` waits until the channel has settled it and says
 * whether it went out, with the reason when not.
 */
export class ReplyChannel extends Context.Tag("gatehouse/reply/ReplyChannel")<
  ReplyChannel,
  {
    readonly chat: (accountId: string, chatId: string) => Effect.Effect<Option.Option<ReplyChat>>
    readonly message: (messageId: string) => Effect.Effect<Option.Option<TriggeringMessage>>
    /** The last messages of the chat up to and with this one, oldest first. */
    readonly window: (
      accountId: string,
      chatId: string,
      upTo: string,
      limit: number
    ) => Effect.Effect<ReadonlyArray<WindowMessage>>
    readonly queue: (message: {
      readonly id: string
      readonly accountId: string
      readonly chatId: string
      readonly body: string
    }) => Effect.Effect<void>
    readonly sent: (
      accountId: string,
      messageId: string
    ) => Effect.Effect<{ readonly isSent: boolean; readonly error: Option.Option<string> }>
  }
>() {}
