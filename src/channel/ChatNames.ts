import { Context, Effect, Layer } from "effect"
import { AliasRepo } from "./AliasRepo.ts"
import type { ChannelId } from "./domain/Channel.ts"

/** The platform's own names for one person lead to one chat (contract, part 4, "Chats and messages"). */
export class ChatNames extends Context.Tag("gatehouse/channel/ChatNames")<
  ChatNames,
  {
    /** The chat that these names mean, which they lead to from now on; joins the caller's transaction. */
    readonly resolve: (channelId: ChannelId, name: string, aliases: ReadonlyArray<string>) => Effect.Effect<string>
  }
>() {
  static readonly layer = Layer.effect(
    ChatNames,
    Effect.gen(function* () {
      const repo = yield* AliasRepo

      const resolve = Effect.fn("ChatNames.resolve")(function* (
        channelId: ChannelId,
        name: string,
        aliases: ReadonlyArray<string>
      ) {
        const given = [name, ...aliases]
        const leads = yield* repo.leads({ channelId, names: given })
        const names = [...new Set([...given, ...leads.map(({ chatId }) => chatId)])]
        const stored = (yield* repo.chats({ channelId, names })).map(({ chatId }) => chatId)
        const led = leads[0]?.chatId
        const chatId = stored[0] ?? led ?? name
        const others = names.filter((other) => other !== chatId)
        yield* Effect.forEach(
          stored.filter((other) => other !== chatId),
          (other) => repo.merge(channelId, other, chatId)
        )
        const isNews = others.some((other) => !leads.some((lead) => lead.alias === other && lead.chatId === chatId))
        if (isNews) yield* repo.learn(channelId, others, chatId)
        return chatId
      })

      return ChatNames.of({ resolve })
    })
  ).pipe(Layer.provide(AliasRepo.Default))
}
