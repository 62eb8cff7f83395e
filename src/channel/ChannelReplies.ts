import { Array, Effect, Layer, Option, Schema } from "effect"
import { longestText } from "../platform/domain/TextLimit.ts"
import { ReplyChannel } from "../reply/ReplyChannel.ts"
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

    const chat = Effect.fn("ChannelReplies.chat")(function* (accountId: string, chatId: string) {
      const found = yield* chats.answerable({ channelId: accountId, chatId })
      return Option.map(found, ({ aiMode, customSystemPrompt, humanWroteAt, isBlocked, name, type }) => ({
        type,
        name: Option.getOrElse(name, () => chatId),
        isBlocked,
        mode: aiMode,
        customSystemPrompt,
        humanWroteAt,
        longestText: longestText(chatId)
      }))
    })

    const window = Effect.fn("ChannelReplies.window")(function* (
      accountId: string,
      chatId: string,
      upTo: Option.Option<string>,
      limit: number
    ) {
      const newest = yield* repo.window({ channelId: accountId, chatId, upTo: Option.getOrNull(upTo), limit })
      // Replies to earlier messages may be stored after the one to answer, which stays the last word.
      const [before, last] = Array.partition(Array.reverse(newest), ({ id }) => Option.contains(upTo, id))
      return [...before, ...last]
    })

    return ReplyChannel.of({
      chat,
      hold: (accountId, chatId) => chats.hold({ channelId: accountId, chatId }),
      messages: (ids) =>
        Effect.map(repo.byIds(ids), (found) =>
          found.map(({ body, id, timestamp, type }) => ({ id, type, body, writtenAt: timestamp }))
        ),
      window,
      queue: ({ accountId, body, id, to }) =>
        Effect.asVoid(messages.queue({ id: MessageId.make(id), channelId: idOf(accountId), to, body, source: "ai" })),
      typing: (accountId, chatId, isTyping) => signs.show(idOf(accountId), chatId, isTyping)
    })
  })
)
