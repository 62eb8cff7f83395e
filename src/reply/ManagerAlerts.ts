import { Context, Effect, Layer } from "effect"
import { nextId } from "../kit/Id.ts"
import type { AiLog } from "./domain/AiLog.ts"
import { alertText } from "./domain/ManagerAlert.ts"
import { ReplyChannel } from "./ReplyChannel.ts"
import type { Situation } from "./Rules.ts"

/** Why the manager is told of a chat, and what was written there. */
export interface Alert {
  readonly log: AiLog
  readonly situation: Situation
  readonly why: string
  readonly texts: ReadonlyArray<string>
}

/** Messages to the manager whom the AI configuration names (contract, part 4, "AI"). */
export class ManagerAlerts extends Context.Tag("gatehouse/reply/ManagerAlerts")<
  ManagerAlerts,
  {
    /** Puts an alert into the channel's queue: joins the caller's transaction. */
    readonly queue: (alert: Alert) => Effect.Effect<void>
  }
>() {
  static readonly layer = Layer.effect(
    ManagerAlerts,
    Effect.map(ReplyChannel, (channel) =>
      ManagerAlerts.of({
        queue: Effect.fn("ManagerAlerts.queue")(function* ({ log, situation: { chat, configured }, texts, why }) {
          const { to } = configured.settings.managerAlerts.value
          if (to === log.chatId) return
          const body = alertText(why, chat.name, texts)
          yield* channel.queue([{ id: yield* nextId, accountId: log.accountId, to, body }])
        })
      })
    )
  )
}
