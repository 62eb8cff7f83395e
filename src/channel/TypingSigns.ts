import { Context, Effect, Layer, Option, type Scope } from "effect"
import type { PushConnection } from "../platform/Platform.ts"
import type { ChannelId } from "./domain/Channel.ts"

type Sign = PushConnection["typing"]

/**
 * Showing the other side that somebody is typing, through the connection that a channel has in this process at the moment.
 * It is a courtesy: where it cannot be shown, nothing is missed.
 */
export class TypingSigns extends Context.Tag("gatehouse/channel/TypingSigns")<
  TypingSigns,
  {
    /** For as long as the scope is open. */
    readonly through: (id: ChannelId, sign: Sign) => Effect.Effect<void, never, Scope.Scope>
    readonly show: (id: ChannelId, chatId: string) => Effect.Effect<void>
  }
>() {
  static readonly layer = Layer.sync(TypingSigns, () => {
    const signs = new Map<ChannelId, Sign>()

    const through = (id: ChannelId, sign: Sign) =>
      Effect.acquireRelease(
        Effect.sync(() => signs.set(id, sign)),
        () => Effect.sync(() => signs.get(id) === sign && signs.delete(id))
      )

    const show = Effect.fnUntraced(function* (id: ChannelId, chatId: string) {
      const sign = Option.flatten(Option.fromNullable(signs.get(id)))
      if (Option.isNone(sign)) return
      yield* sign
        .value(chatId, true)
        .pipe(
          Effect.catchTag("PlatformFailure", ({ detail }) =>
            Effect.annotateLogs(Effect.logDebug("typing was not shown"), { channel: id, detail })
          )
        )
    })

    return TypingSigns.of({ through, show })
  })
}
