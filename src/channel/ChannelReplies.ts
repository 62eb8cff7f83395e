import { Array, Effect, Layer, Option, Schema } from "effect"
import { longestText } from "../platform/domain/TextLimit.ts"
import { type Answerable, type ConversationAsked, type MessageKey, ReplyChannel } from "../reply/ReplyChannel.ts"
import { ChatRepo } from "./ChatRepo.ts"
import { ChannelId } from "./domain/Channel.ts"
import { MessageId } from "./domain/Message.ts"
import { MessageRepo } from "./MessageRepo.ts"
import { Messages } from "./Messages.ts"
import { TypingSigns } from "./TypingSigns.ts"

const idOf = Schema.decodeSync(ChannelId)

/** The channel as the auto-reply flow sees it. */
export const layer = Layer.effect(
  ReplyChannel,
  Effect.gen(function* () {
    const repo = yield* MessageRepo
    const chats = yield* ChatRepo
    const messages = yield* Messages
    const signs = yield* TypingSigns

    const answerable = Effect.fn("ChannelReplies.answerable")(function* (keys: ReadonlyArray<MessageKey>) {
      const rows = yield* chats.answerable(
        keys.map(({ accountId, chatId, messageId }) => ({ channelId: accountId, chatId, messageId }))
      )
      return Array.zipWith(keys, rows, ({ chatId }, row): Answerable => {
        const { body, chatType, customSystemPrompt, humanWroteAt, isBlocked, messageType, mode, writtenAt } = row
        const name = row.name ?? chatId
        return {
          chat: Option.map(Option.fromNullable(chatType), (type) => {
            return { type, name, isBlocked, mode, customSystemPrompt, humanWroteAt }
          }),
          message: Option.map(Option.fromNullable(messageType), (type) => ({ type, body, writtenAt }))
        }
      })
    })

    const windows = Effect.fn("ChannelReplies.windows")(function* (asked: ReadonlyArray<ConversationAsked>) {
      const rows = yield* repo.windows(
        asked.map(({ accountId, chatId, limit, upTo }) => ({
          channelId: accountId,
          chatId,
          upTo: Option.getOrNull(upTo),
          limit
        }))
      )
      const byPosition = Array.groupBy(rows, ({ nth }) => String(nth))
      return asked.map(({ upTo }, index) => {
        // Replies to earlier messages may be stored after the one to answer, which stays the last word.
        const newest = byPosition[String(index + 1)] ?? []
        const [before, last] = Array.partition(Array.reverse(newest), ({ id }) => Option.contains(upTo, id))
        return [...before, ...last]
      })
    })

    return ReplyChannel.of({
      chat: ({ accountId, chatId }) =>
        Effect.map(
          chats.byId({ channelId: accountId, chatId }),
          Option.map(({ aiMode, customSystemPrompt }) => ({ mode: aiMode, customSystemPrompt }))
        ),
      answerable,
      hold: (keys) => chats.hold(keys.map(({ accountId, chatId }) => ({ channelId: accountId, chatId }))),
      windows,
      longestText,
      queue: (all) =>
        Effect.asVoid(
          messages.queueAll(
            all.map(({ accountId, id, ...message }) => ({
              ...message,
              id: MessageId.make(id),
              channelId: idOf(accountId),
              source: "ai" as const
            }))
          )
        ),
      typing: (accountId, chatId) => signs.show(idOf(accountId), chatId)
    })
  })
)
