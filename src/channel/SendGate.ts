import { Context, type DateTime, Effect, Layer, Option } from "effect"
import { AutoReply } from "../reply/AutoReply.ts"
import { Outbox } from "../webhook/Outbox.ts"
import { MessageRepo } from "./MessageRepo.ts"
import type { Unsent } from "./SendQueue.ts"

/** The last look at a message before the platform is asked. */
export class SendGate extends Context.Tag("gatehouse/channel/SendGate")<
  SendGate,
  {
    /**
     * Committed before the platform is asked, so that a crash leaves a trace. False for a reply that the rules withhold by
     * now: it has failed with their reason.
     */
    readonly begin: (unsent: Unsent, at: DateTime.Utc) => Effect.Effect<boolean>
  }
>() {
  static readonly layer = Layer.effect(
    SendGate,
    Effect.gen(function* () {
      const repo = yield* MessageRepo
      const replies = yield* AutoReply
      const outbox = yield* Outbox

      const begun = ({ message, opensChat }: Unsent, at: DateTime.Utc) =>
        Effect.as(repo.begin(message.id, opensChat, at), true)

      const judged = Effect.fn("SendGate.judged")(
        function* (unsent: Unsent, at: DateTime.Utc) {
          const reason = yield* replies.withheld(unsent.message.id)
          if (Option.isNone(reason)) return yield* begun(unsent, at)
          yield* repo.move(unsent.message.id, "failed", reason)
          return false
        },
        (effect) => outbox.transaction(effect),
        Effect.orDie
      )

      return SendGate.of({
        begin: (unsent, at) => (unsent.message.source === "ai" ? judged(unsent, at) : begun(unsent, at))
      })
    })
  )
}
