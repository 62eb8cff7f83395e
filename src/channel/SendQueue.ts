import { Context, Effect, Layer, Option } from "effect"
import type { ChannelId } from "./domain/Channel.ts"
import type { Message } from "./domain/Message.ts"
import { MessageRepo } from "./MessageRepo.ts"

/** The outgoing messages of a channel that wait for the platform, oldest first. */
export class SendQueue extends Context.Tag("gatehouse/channel/SendQueue")<
  SendQueue,
  {
    /** One that is `sending` may be on the platform already: nobody has heard its answer. */
    readonly next: (id: ChannelId) => Effect.Effect<Option.Option<Message>>
    /** Committed before the platform is asked, so that a crash leaves a trace. */
    readonly begin: (message: Message) => Effect.Effect<void>
    /** The platform refused it for now: it keeps its place. */
    readonly putBack: (message: Message) => Effect.Effect<void>
  }
>() {
  static readonly layer = Layer.effect(
    SendQueue,
    Effect.gen(function* () {
      const repo = yield* MessageRepo
      return SendQueue.of({
        next: repo.nextUnsent,
        begin: ({ id }) => Effect.asVoid(repo.move(id, "sending", Option.none())),
        putBack: ({ id }) => Effect.asVoid(repo.move(id, "queued", Option.none()))
      })
    })
  )
}
