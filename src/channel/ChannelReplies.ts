import { Array, Effect, Layer, Option, Schema } from "effect"
import { together } from "../kit/Together.ts"
import { longestText } from "../platform/domain/TextLimit.ts"
import { type ChatKey, ReplyChannel } from "../reply/ReplyChannel.ts"
import { ChatRepo } from "./ChatRepo.ts"
import { ChannelId } from "./domain/Channel.ts"
import { MessageId } from "./domain/Message.ts"
import { MessageRepo } from "./MessageRepo.ts"
import { Messages } from "./Messages.ts"
import { TypingSigns } from "./TypingSigns.ts"

type Asked = Parameters<typeof MessageRepo.Service.windows>[0][number]

/** Conversations that are read by one statement. */
const windowsAtOnce = 64

const idOf = Schema.decodeSync(ChannelId)

/** The channel as the auto-reply flow sees it. */
export const layer = Layer.scoped(
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
            humanWroteAt,
            longestText: longestText(chatId)
          })
        )
      )
    })

    const windows = Effect.fn("ChannelReplies.windows")(function* (asked: ReadonlyArray<Asked>) {
      const rows = yield* repo.windows(asked)
      const byPosition = Array.groupBy(rows, ({ nth }) => String(nth))
      return asked.map((_, index) => byPosition[String(index + 1)] ?? [])
    })
    const windowTogether = yield* together(windowsAtOnce, windows)

    const window = Effect.fnUntraced(function* (
      accountId: string,
      chatId: string,
      upTo: Option.Option<string>,
      limit: number
    ) {
      const newest = yield* windowTogether({ channelId: accountId, chatId, upTo: Option.getOrNull(upTo), limit })
      // Replies to earlier messages may be stored after the one to answer, which stays the last word.
      const [before, last] = Array.partition(Array.reverse(newest), ({ id }) => Option.contains(upTo, id))
      return [...before, ...last]
    })

    return ReplyChannel.of({
      chats: replyChats,
      hold: (keys) => chats.hold(keysOf(keys)),
      messages: (ids) =>
        Effect.map(repo.texts(ids), (found) =>
          found.map(({ body, id, timestamp, type }) => ({ id, type, body, writtenAt: timestamp }))
        ),
      window,
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
