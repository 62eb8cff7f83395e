import { Context, Data, DateTime, Effect, Layer, Option } from "effect"
import { nextId } from "../kit/Id.ts"
import type { ChatMode } from "../reply/domain/AiSettings.ts"
import { Outbox } from "../webhook/Outbox.ts"
import { ChatRepo } from "./ChatRepo.ts"
import type { ChannelId } from "./domain/Channel.ts"
import { type Chat, chatItem } from "./domain/Chat.ts"

export class ChatNotFound extends Data.TaggedError("ChatNotFound")<{}> {}

export interface ChatChanges {
  readonly isBlocked?: boolean
  readonly name?: string | null
  readonly aiMode?: ChatMode
  readonly customSystemPrompt?: string | null
}

/** Chats of a channel, the most recently active first; a change is told as `chat.updated`. */
export class Chats extends Context.Tag("gatehouse/channel/Chats")<
  Chats,
  {
    readonly page: (
      channelId: ChannelId,
      page: { readonly before: Option.Option<string>; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<Chat>>
    readonly byId: (channelId: ChannelId, chatId: string) => Effect.Effect<Chat, ChatNotFound>
    readonly update: (channelId: ChannelId, chatId: string, changes: ChatChanges) => Effect.Effect<Chat, ChatNotFound>
  }
>() {
  static readonly layer = Layer.effect(
    Chats,
    Effect.gen(function* () {
      const repo = yield* ChatRepo
      const outbox = yield* Outbox

      const byId = Effect.fn("Chats.byId")(function* (channelId: ChannelId, chatId: string) {
        const found = yield* repo.byId({ channelId, chatId })
        return yield* Option.match(found, { onNone: () => new ChatNotFound(), onSome: Effect.succeed })
      })

      const update = Effect.fn("Chats.update")(
        function* (channelId: ChannelId, chatId: string, changes: ChatChanges) {
          const before = yield* byId(channelId, chatId)
          if (Object.keys(changes).length === 0) return before
          yield* repo.update(channelId, chatId, changes)
          const chat = yield* byId(channelId, chatId)
          const timestamp = yield* DateTime.now
          const owner = { kind: "account", id: channelId } as const
          yield* outbox.publish([
            { eventId: yield* nextId, owner, event: "chat.updated", timestamp, data: chatItem(chat) }
          ])
          return chat
        },
        (effect) => outbox.transaction(effect),
        Effect.catchTag("SqlError", Effect.die)
      )

      return Chats.of({
        page: (channelId, { before, limit }) => repo.page({ channelId, before: Option.getOrNull(before), limit }),
        byId,
        update
      })
    })
  )
}
