import { Array, Context, DateTime, Duration, Effect, Layer, Option } from "effect"
import { AiLogRepo } from "./AiLogRepo.ts"
import { AiSettings, type Configured } from "./AiSettings.ts"
import type { AiLog } from "./domain/AiLog.ts"
import type { ChatSituation, MessageSituation } from "./domain/Eligibility.ts"
import { type Answerable, ReplyChannel, type ReplyChat, type TriggeringMessage } from "./ReplyChannel.ts"

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

export interface Judged {
  readonly situation: Situation
  readonly message: Waiting
}

/** A chat that is gone is answered no more. */
const gone: ReplyChat = {
  type: "private",
  name: "",
  isBlocked: false,
  mode: "disabled",
  customSystemPrompt: Option.none(),
  humanWroteAt: Option.none()
}

const waitingOf = (log: AiLog, message: Option.Option<TriggeringMessage>): Waiting => ({
  log,
  ...Option.getOrElse(message, () => ({ body: "", type: "unsupported" as const, writtenAt: log.createdAt })),
  arrivedAt: log.createdAt
})

/** Reads what the rules of step 2 ask for (gateway specification, part 6). */
export class Rules extends Context.Tag("gatehouse/reply/Rules")<
  Rules,
  {
    /** Of the chats, and of the messages that the replies are for, in their order. */
    readonly of: (logs: ReadonlyArray<AiLog>) => Effect.Effect<ReadonlyArray<Judged>>
    /**
     * For the messages of these replies, and as long as the caller's transaction runs nobody changes a switch: who turns
     * one off is answered when what was allowed before is on its way, and nothing is afterwards.
     */
    readonly held: (logs: ReadonlyArray<AiLog>) => Effect.Effect<ReadonlyArray<Judged>>
    readonly waiting: (logs: ReadonlyArray<AiLog>) => Effect.Effect<ReadonlyArray<Waiting>>
  }
>() {
  static readonly layer = Layer.effect(
    Rules,
    Effect.gen(function* () {
      const logs = yield* AiLogRepo
      const settings = yield* AiSettings
      const channel = yield* ReplyChannel

      const situations = Effect.fn("Rules.situations")(function* (
        of: ReadonlyArray<AiLog>,
        found: ReadonlyArray<Answerable>
      ) {
        const now = yield* DateTime.now
        const chats = Array.zipWith(of, found, ({ accountId }, { chat }) => ({
          accountId,
          chat: Option.getOrElse(chat, () => gone)
        }))
        const configured = yield* settings.configuredAll(chats)
        const counts = yield* logs.sentSince(of, DateTime.subtractDuration(now, hour))
        return chats.map(({ chat }, nth): Situation => {
          const ours = Array.unsafeGet(configured, nth)
          const { humanWroteAt, isBlocked, type: chatType } = chat
          const repliesInLastHour = counts[nth] ?? 0
          const rules = { settings: ours.settings, chatType, isBlocked, humanWroteAt, repliesInLastHour, now }
          return { chat, configured: ours, rules }
        })
      })

      const waiting = (of: ReadonlyArray<AiLog>, found: ReadonlyArray<Answerable>) =>
        Array.zipWith(of, found, (log, { message }) => waitingOf(log, message))

      const judged = Effect.fn("Rules.judged")(function* (of: ReadonlyArray<AiLog>) {
        const found = yield* channel.answerable(of)
        const all = yield* situations(of, found)
        return Array.zipWith(all, waiting(of, found), (situation, message) => ({ situation, message }))
      })

      const held = Effect.fn("Rules.held")(function* (of: ReadonlyArray<AiLog>) {
        yield* settings.hold(of.map(({ accountId }) => accountId))
        yield* channel.hold(of)
        return yield* judged(of)
      })

      return Rules.of({
        of: judged,
        held,
        waiting: (of) => Effect.map(channel.answerable(of), (found) => waiting(of, found))
      })
    })
  )
}
