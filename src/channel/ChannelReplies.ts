import { Array, Effect, Layer, Option, Schema } from "effect"
import { ReplyChannel } from "../reply/ReplyChannel.ts"
import { ChannelWaker } from "./ChannelWaker.ts"
import { ChatRepo } from "./ChatRepo.ts"
import { ChannelId } from "./domain/Channel.ts"
import { MessageId } from "./domain/Message.ts"
import { MessageRepo } from "./MessageRepo.ts"
import { Messages } from "./Messages.ts"
import { SendWatch } from "./SendWatch.ts"

const idOf = Schema.decodeSync(ChannelId)

/** A reply may wait for as long as its channel rests; the row is looked at again after this. */
const patience = "1 hour"

/** The channel as the auto-reply flow sees it. */
export const layer = Layer.effect(
  ReplyChannel,
  Effect.gen(function* () {
    const repo = yield* MessageRepo
    const chats = yield* ChatRepo
    const messages = yield* Messages
    const watch = yield* SendWatch
    const waker = yield* ChannelWaker

    const chat = Effect.fn("ChannelReplies.chat")(function* (accountId: string, chatId: string) {
      const found = yield* chats.byId({ channelId: accountId, chatId })
      return Option.map(found, ({ aiMode, customSystemPrompt, isBlocked, type }) => ({
        type,
        isBlocked,
        mode: aiMode,
        customSystemPrompt
      }))
    })

    const message = Effect.fn("ChannelReplies.message")(function* (messageId: string) {
      const found = yield* repo.byId(messageId)
      return Option.map(found, ({ body, timestamp, type }) => ({ type, body, writtenAt: timestamp }))
    })

    const window = Effect.fn("ChannelReplies.window")(function* (
      accountId: string,
      chatId: string,
      upTo: string,
      limit: number
    ) {
      const newest = yield* repo.window({ channelId: accountId, chatId, upTo, limit })
      // Replies to earlier messages may be stored after the one to answer, which stays the last word.
      const [before, last] = Array.partition(Array.reverse(newest), ({ id }) => id === upTo)
      return [...before, ...last]
    })

    const sent = Effect.fn("ChannelReplies.sent")(function* (accountId: string, messageId: string) {
      yield* waker.wake(idOf(accountId))
      const settled = yield* Effect.repeat(watch.settled(messageId, patience), {
        until: (found) => Option.isNone(found) || found.value.isSettled
      })
      return {
        isSent: Option.exists(settled, ({ status }) => status !== "failed"),
        error: Option.flatMap(settled, ({ error }) => error)
      }
    })

    return ReplyChannel.of({
      chat,
      message,
      window,
      queue: ({ accountId, body, chatId, id }) =>
        Effect.asVoid(
          messages.queue({ id: MessageId.make(id), channelId: idOf(accountId), to: chatId, body, source: "ai" })
        ),
      sent
    })
  })
)
