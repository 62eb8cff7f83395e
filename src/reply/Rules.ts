import { Context, DateTime, Duration, Effect, Layer, Option } from "effect"
import { AiLogRepo } from "./AiLogRepo.ts"
import { AiSettings, type Configured } from "./AiSettings.ts"
import type { AiLog } from "./domain/AiLog.ts"
import type { ChatSituation, MessageSituation } from "./domain/Eligibility.ts"
import { type ReplyChat, ReplyChannel, type TriggeringMessage } from "./ReplyChannel.ts"

const hour = Duration.hours(1)

/** What the rules and the provider are asked with, as it is at one moment. */
export interface Situation {
  readonly chat: ReplyChat
  readonly configured: Configured
  readonly rules: ChatSituation
}

/** A message that waits for its answer. */
export interface Waiting extends MessageSituation {
  readonly log: AiLog
  readonly body: string
}

/** A chat that is gone is answered no more. */
const gone: ReplyChat = {
  type: "private",
  name: "",
  isBlocked: false,
  mode: "disabled",
  customSystemPrompt: Option.none(),
  humanWroteAt: Option.none(),
  longestText: 1000
}

const waitingOf = (log: AiLog, message: TriggeringMessage | undefined): Waiting => ({
  log,
  body: message?.body ?? "",
  type: message?.type ?? "unsupported",
  writtenAt: message?.writtenAt ?? log.createdAt,
  arrivedAt: log.createdAt
})

/** Reads what the rules of step 2 ask for (gateway specification, part 6). */
export class Rules extends Context.Tag("gatehouse/reply/Rules")<
  Rules,
  {
    readonly situation: (accountId: string, chatId: string) => Effect.Effect<Situation>
    /**
     * The same, and as long as the caller's transaction runs nobody changes a switch: who turns one off is answered when
     * what was allowed before is on its way, and nothing is afterwards.
     */
    readonly held: (accountId: string, chatId: string) => Effect.Effect<Situation>
    readonly waiting: (logs: ReadonlyArray<AiLog>) => Effect.Effect<ReadonlyArray<Waiting>>
    readonly message: (log: AiLog) => Effect.Effect<Waiting>
  }
>() {
  static readonly layer = Layer.effect(
    Rules,
    Effect.gen(function* () {
      const logs = yield* AiLogRepo
      const settings = yield* AiSettings
      const channel = yield* ReplyChannel

      const situation = Effect.fn("Rules.situation")(function* (accountId: string, chatId: string) {
        const chat = Option.getOrElse(yield* channel.chat(accountId, chatId), () => gone)
        const configured = yield* settings.configured(Option.some(accountId), chat)
        const now = yield* DateTime.now
        const repliesInLastHour = yield* logs.sentSince({ accountId, chatId }, DateTime.subtractDuration(now, hour))
        const { humanWroteAt, isBlocked, type } = chat
        const rules = {
          settings: configured.settings,
          chatType: type,
          isBlocked,
          humanWroteAt,
          repliesInLastHour,
          now
        }
        return { chat, configured, rules }
      })

      const held = Effect.fn("Rules.held")(function* (accountId: string, chatId: string) {
        yield* settings.hold(accountId)
        yield* channel.hold(accountId, chatId)
        return yield* situation(accountId, chatId)
      })

      const waiting = Effect.fn("Rules.waiting")(function* (of: ReadonlyArray<AiLog>) {
        const messages = yield* channel.messages(of.map(({ messageId }) => messageId))
        const byId = new Map(messages.map((message) => [message.id, message]))
        return of.map((log) => waitingOf(log, byId.get(log.messageId)))
      })

      const message = Effect.fn("Rules.message")(function* (log: AiLog) {
        const [found] = yield* channel.messages([log.messageId])
        return waitingOf(log, found)
      })

      return Rules.of({ situation, held, waiting, message })
    })
  )
}
