import { Array, Effect, Layer, Option, Schema } from "effect"
import { longestText } from "../platform/domain/TextLimit.ts"
import { type ChatKey, type ConversationAsked, ReplyChannel } from "../reply/ReplyChannel.ts"
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

    const keysOf = (keys: ReadonlyArray<ChatKey>) =>
      keys.map(({ accountId, chatId }) => ({ channelId: accountId, chatId }))

    const replyChats = Effect.fn("ChannelReplies.chats")(function* (keys: ReadonlyArray<ChatKey>) {
      const rows = yield* chats.answerable(keysOf(keys))
      const found = new Map(rows.map((row) => [`${row.channelId} ${row.chatId}`, row]))
      return keys.map(({ accountId, chatId }) =>
        Option.map(
          Option.fromNullable(found.get(`${accountId} ${chatId}`)),
          ({ aiMode, customSystemPrompt, humanWroteAt, isBlocked, name, type }) => ({
            type,
            name: Option.getOrElse(name, () => chatId),
            isBlocked,
            mode: aiMode,
            customSystemPrompt,
            humanWroteAt
          })
        )
      )
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
      chats: replyChats,
      hold: (keys) => chats.hold(keysOf(keys)),
      messages: (ids) =>
        Effect.map(repo.texts(ids), (found) =>
          found.map(({ body, id, timestamp, type }) => ({ id, type, body, writtenAt: timestamp }))
        ),
      windows,
      longestText,
      queue: (all) =>
        Effect.asVoid(
          messages.queueAll(
            all.map(({ accountId, body, id, to }) => ({
              id: MessageId.make(id),
              channelId: idOf(accountId),
              to,
              body,
              source: "ai" as const
            }))
          )
        ),
      typing: (accountId, chatId, isTyping) => signs.show(idOf(accountId), chatId, isTyping)
    })
  })
)
