import { Array, Context, Effect, Layer, Metric, Option } from "effect"
import { messages as messageCount } from "../Metrics.ts"
import type { SentMessage } from "../platform/Platform.ts"
import { AiLogs } from "../reply/AiLogs.ts"
import * as ChatEvents from "./ChatEvents.ts"
import { ChatRepo } from "./ChatRepo.ts"
import { Message, messageItem } from "./domain/Message.ts"
import { MessageRepo } from "./MessageRepo.ts"

export interface Noted {
  readonly message: Message
  readonly sent: SentMessage
}

export const count = (messages: ReadonlyArray<Message>) =>
  Effect.forEach(
    Object.values(Array.groupBy(messages, ({ direction, source }) => `${direction} ${source}`)),
    (of) => {
      const ofDirection = Metric.tagged(messageCount, "direction", of[0].direction)
      return Metric.incrementBy(Metric.tagged(ofDirection, "source", of[0].source), of.length)
    },
    { discard: true }
  )

/** Outgoing messages that the platform has: noted once, with their event and with the reply that they belong to. */
export class SentMessages extends Context.Tag("gatehouse/channel/SentMessages")<
  SentMessages,
  {
    /** Joins the caller's transaction. Answers, by message, the chats where another reply is due thereby. */
    readonly note: (all: ReadonlyArray<Noted>) => Effect.Effect<ReadonlyMap<string, string>>
  }
>() {
  static readonly layer = Layer.effect(
    SentMessages,
    Effect.gen(function* () {
      const repo = yield* MessageRepo
      const chats = yield* ChatRepo
      const replies = yield* AiLogs
      const { publish, touch } = yield* ChatEvents.make

      const stored = ({ message, sent }: Noted) =>
        Message.make(
          {
            ...message,
            status: "sent",
            error: Option.none(),
            chatId: sent.chatId,
            platformMessageId: Option.some(sent.platformMessageId),
            timestamp: sent.timestamp
          },
          true
        )

      /** The platform calls the chat by another name than the one that it was written to. */
      const rename = ({ message: { channelId, chatId: alias }, sent: { chatId } }: Noted) =>
        Effect.zipRight(chats.learn([{ channelId, alias, chatId }]), repo.readdress({ channelId, alias, chatId }))

      const note = Effect.fn("SentMessages.note")(function* (all: ReadonlyArray<Noted>) {
        if (all.length === 0) return new Map<string, string>()
        const first = yield* repo.markSent(all.map(({ message: { id }, sent }) => ({ id, ...sent })))
        const noted = all.filter(({ message }) => first.has(message.id))
        if (noted.length === 0) return new Map<string, string>()
        const renamed = noted.filter(({ message, sent }) => message.chatId !== sent.chatId)
        yield* Effect.forEach(renamed, rename, { discard: true })
        const names = new Map(renamed.map(({ message, sent }) => [sent.chatId, message.recipient]))
        const messages = noted.map(stored)
        const ofChats = Object.values(Array.groupBy(messages, ({ channelId, chatId }) => `${channelId} ${chatId}`))
        const created = yield* touch(
          ofChats.map((of) => ({ messages: of, name: names.get(of[0].chatId) ?? Option.none() }))
        )
        const sent = messages.map((message) => ({
          channelId: message.channelId,
          event: "message.sent" as const,
          data: messageItem(message)
        }))
        yield* publish([...created, ...sent])
        yield* count(messages)
        const ai = messages.filter(({ source }) => source === "ai").map(({ id }) => id)
        return ai.length === 0 ? new Map<string, string>() : yield* replies.sent(ai)
      })

      return SentMessages.of({ note })
    })
  )
}
