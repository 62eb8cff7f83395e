import { Context, Effect, Layer, Option } from "effect"
import type { ChannelId } from "./domain/Channel.ts"
import type { Message } from "./domain/Message.ts"
import { MessageRepo } from "./MessageRepo.ts"

/** The queue of one channel's outgoing messages, oldest first. */
export class Unsent extends Context.Tag("gatehouse/channel/Unsent")<
  Unsent,
  {
    readonly next: (id: ChannelId) => Effect.Effect<Option.Option<Message>>
    /** Commits that the message is being tried. */
    readonly mark: (message: Message) => Effect.Effect<void>
  }
>() {
  static readonly layer = Layer.effect(
    Unsent,
    Effect.map(MessageRepo, (repo) =>
      Unsent.of({
        next: repo.nextUnsent,
        mark: (message) => Effect.asVoid(repo.setStatus(message.id, "sending", Option.none()))
      })
    )
  )
}
