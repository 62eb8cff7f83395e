import { Effect, Layer, Option } from "effect"
import { ReplyChannel } from "../reply/ReplyChannel.ts"
import { ChannelWaker } from "./ChannelWaker.ts"
import { ChatRepo } from "./ChatRepo.ts"
import { ChannelId } from "./domain/Channel.ts"
import { MessageId } from "./domain/Message.ts"
import { MessageRepo } from "./MessageRepo.ts"
import { Messages } from "./Messages.ts"
import { SendWatch } from "./SendWatch.ts"

const patience = "1 hour"

/** How replies reach the platform: through the same queue as every other message of the channel. */
export const layer = Layer.effect(
  ReplyChannel,
  Effect.gen(function* () {
    const chats = yield* ChatRepo
    const repo = yield* MessageRepo
    const messages = yield* Messages
    const watch = yield* SendWatch
    const waker = yield* ChannelWaker

    return ReplyChannel.of({
      chat: (accountId, chatId) =>
        Effect.map(
          chats.byId({ channelId: accountId, chatId }),
          Option.map(({ aiMode, customSystemPrompt, isBlocked, type }) => ({
            mode: aiMode,
            customSystemPrompt,
            isBlocked,
            type
          }))
        ),
      message: (messageId) =>
        Effect.map(
          repo.byId(messageId),
          Option.map(({ body, timestamp, type }) => ({ type, body, writtenAt: timestamp }))
        ),
      window: (accountId, chatId, upTo, limit) =>
        Effect.map(repo.window({ channelId: accountId, chatId, upTo, limit }), (rows) => [...rows].reverse()),
      queue: ({ accountId, body, chatId, id }) =>
        Effect.asVoid(
          messages.queue({
            id: MessageId.make(id),
            channelId: ChannelId.make(accountId),
            to: chatId,
            body,
            source: "ai"
          })
        ),
      sent: (accountId, messageId) =>
        Effect.gen(function* () {
          yield* waker.wake(ChannelId.make(accountId))
          const message = yield* watch.settled(messageId, patience)
          return {
            isSent: Option.exists(message, ({ isSettled, status }) => isSettled && status !== "failed"),
            error: Option.flatMap(message, ({ error }) => error)
          }
        })
    })
  })
)
