import { Array, DateTime, Effect, type Option } from "effect"
import { nextId } from "../kit/Id.ts"
import { Outbox } from "../webhook/Outbox.ts"
import { ChatRepo } from "./ChatRepo.ts"
import type { ChannelId } from "./domain/Channel.ts"
import { chatItem } from "./domain/Chat.ts"
import type { GatewayEvent } from "./domain/GatewayEvent.ts"
import type { Message } from "./domain/Message.ts"

export interface ChannelEvent {
  readonly channelId: ChannelId
  readonly event: GatewayEvent
  readonly data: unknown
}

/** Messages of one chat, in order, and what the platform calls the chat. */
export interface ChatNews {
  readonly messages: Array.NonEmptyReadonlyArray<Message>
  readonly name: Option.Option<string>
}

/** What messages do to their chats, and how it is told: both join the caller's transaction. */
export const make = Effect.gen(function* () {
  const chats = yield* ChatRepo
  const outbox = yield* Outbox

  const publish = Effect.fn("ChatEvents.publish")(function* (events: ReadonlyArray<ChannelEvent>) {
    const timestamp = yield* DateTime.now
    const outbound = yield* Effect.forEach(events, ({ channelId, data, event }) =>
      Effect.map(nextId, (eventId) => {
        const owner = { kind: "account", id: channelId } as const
        return { eventId, owner, event, timestamp, data }
      })
    )
    yield* outbox.publish(outbound)
  })

  /** Counts the messages in their chats, each named once; answers what is to be told of chats that were not known. */
  const touch = Effect.fn("ChatEvents.touch")(function* (news: ReadonlyArray<ChatNews>) {
    const touched = news.map(({ messages, name }) => {
      const { channelId, chatId, chatType: type, id, timestamp } = Array.lastNonEmpty(messages)
      const unread = messages.filter(({ direction }) => direction === "incoming").length
      return { channelId, chatId, type, name, unread, lastMessageId: id, lastMessageAt: timestamp }
    })
    const created = touched.length === 0 ? [] : yield* chats.touch(touched)
    return created.map((chat): ChannelEvent => ({
      channelId: chat.channelId,
      event: "chat.created",
      data: chatItem(chat)
    }))
  })

  return { publish, touch } as const
})
