import { DateTime, Effect, Option } from "effect"
import { nextId } from "../kit/Id.ts"
import { AlertRepo } from "./AlertRepo.ts"
import type { AiLog } from "./domain/AiLog.ts"
import { alertText, decideAlert, type Occasion } from "./domain/ManagerAlert.ts"
import { ReplyChannel } from "./ReplyChannel.ts"
import type { Situation } from "./Rules.ts"

/**
 * Tells the manager about a chat, unless it is quiet: what is decided, what is noted and what the channel is to send join
 * the transaction of the step that gave the occasion, so that a crash repeats no alert and uses none up.
 */
export const make = Effect.gen(function* () {
  const repo = yield* AlertRepo
  const channel = yield* ReplyChannel

  return Effect.fn("TellManager")(function* (
    { accountId, chatId }: AiLog,
    { chat, configured }: Situation,
    occasion: Occasion,
    why: string,
    texts: ReadonlyArray<string>
  ) {
    const { to } = configured.settings.managerAlerts.value
    if (to === chatId) return
    const key = { accountId, chatId, occasion }
    const { last, tells } = decideAlert(yield* repo.held(key), to, yield* DateTime.now)
    yield* repo.put(key, last)
    if (Option.isNone(tells)) return
    const body = alertText(why, chat.name, texts, tells.value.heldBack)
    yield* channel.queue([{ id: yield* nextId, accountId, to, body }])
  })
})
