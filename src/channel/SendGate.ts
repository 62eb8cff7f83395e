import { Context, type DateTime, Duration, Effect, Layer } from "effect"
import { together } from "../kit/Together.ts"
import { LastLook } from "../reply/LastLook.ts"
import { Outbox } from "../webhook/Outbox.ts"
import { MessageRepo } from "./MessageRepo.ts"
import type { Unsent } from "./SendQueue.ts"

interface Sending {
  readonly unsent: Unsent
  readonly at: DateTime.Utc
}

/** Replies that are judged by one transaction, and how long it waits for others while there are several. */
const judgedAtOnce = 64
const gathering = Duration.millis(20)

/** The last look at a message before the platform is asked. */
export class SendGate extends Context.Tag("gatehouse/channel/SendGate")<
  SendGate,
  {
    /**
     * Committed before the platform is asked, so that a crash leaves a trace. False for a reply that the rules withhold by
     * now: the log of replies says why, and there is no such message any more.
     */
    readonly begin: (unsent: Unsent, at: DateTime.Utc) => Effect.Effect<boolean>
  }
>() {
  static readonly layer = Layer.scoped(
    SendGate,
    Effect.gen(function* () {
      const repo = yield* MessageRepo
      const replies = yield* LastLook
      const outbox = yield* Outbox

      const begun = (all: ReadonlyArray<Sending>) =>
        repo.begin(all.map(({ at, unsent: { message, opensChat } }) => ({ id: message.id, isOpening: opensChat, at })))

      const judged = Effect.fn("SendGate.judged")(
        function* (all: ReadonlyArray<Sending>) {
          const withheld = yield* replies.withheld(all.map(({ unsent: { message } }) => message.id))
          yield* begun(all.filter(({ unsent: { message } }) => !withheld.has(message.id)))
          if (withheld.size > 0) yield* repo.remove([...withheld.keys()])
          return all.map(({ unsent: { message } }) => !withheld.has(message.id))
        },
        (effect) => outbox.transaction(effect),
        Effect.orDie
      )
      const judge = yield* together(judgedAtOnce, judged, gathering)

      return SendGate.of({
        begin: (unsent, at) =>
          unsent.message.source === "ai" ? judge({ unsent, at }) : Effect.as(begun([{ unsent, at }]), true)
      })
    })
  )
}
