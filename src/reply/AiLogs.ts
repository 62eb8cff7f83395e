import { Array, Context, DateTime, Effect, Layer, Metric, Option } from "effect"
import { nextId } from "../kit/Id.ts"
import { aiReplies } from "../Metrics.ts"
import { Outbox } from "../webhook/Outbox.ts"
import { AiLogRepo } from "./AiLogRepo.ts"
import { AiLog, aiLogData, AiLogId, type AiLogStatus } from "./domain/AiLog.ts"
import { ReplyJobRepo } from "./ReplyJobRepo.ts"

export interface IncomingMessage {
  readonly accountId: string
  readonly chatId: string
  readonly messageId: string
}

export interface DueChat {
  readonly chatId: string
  readonly dueAt: DateTime.Utc
}

type ReplyEvent = "ai.reply.generated" | "ai.reply.sent" | "ai.reply.failed"
type Changes = Partial<Omit<typeof AiLog.Type, "id" | "isOpen">>

/** The log of replies, which is also the durable list of replies to make. */
export class AiLogs extends Context.Tag("gatehouse/reply/AiLogs")<
  AiLogs,
  {
    /** Asks for a reply to each message, inside the transaction that stores the messages. */
    readonly request: (messages: ReadonlyArray<IncomingMessage>) => Effect.Effect<void>
    /** The chats of an account where something is to be done about replies, the most urgent first. */
    readonly due: (accountId: string, limit: number) => Effect.Effect<ReadonlyArray<DueChat>>
    /** Those of the accounts where something is to be done about replies. */
    readonly dueAmong: (accountIds: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>>
    /** Changes a reply and tells of it; false, and nothing done, when it is not as it was read. Joins a transaction. */
    readonly move: (from: AiLog, changes: Changes, event: Option.Option<ReplyEvent>) => Effect.Effect<boolean>
    /**
     * The channel has sent a message, or will not for the reason given: inside the transaction that says so of the
     * message. True when it was the end of a reply, so that the next of its chat is due.
     */
    readonly settled: (messageId: string, failure: Option.Option<string>) => Effect.Effect<boolean>
    readonly page: (query: {
      readonly accountId: Option.Option<string>
      readonly chatId: Option.Option<string>
      readonly status: Option.Option<AiLogStatus>
      readonly before: Option.Option<string>
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<AiLog>>
  }
>() {
  static readonly layer = Layer.effect(
    AiLogs,
    Effect.gen(function* () {
      const repo = yield* AiLogRepo
      const jobs = yield* ReplyJobRepo
      const outbox = yield* Outbox

      const request = Effect.fn("AiLogs.request")(function* (messages: ReadonlyArray<IncomingMessage>) {
        if (messages.length === 0) return
        const now = yield* DateTime.now
        const createdAt = DateTime.toDateUtc(now)
        const rows = yield* Effect.forEach(messages, (message) =>
          Effect.map(nextId, (id) => ({ ...message, id: AiLogId.make(id), status: "pending" as const, createdAt }))
        )
        yield* repo.insert(rows)
        const chats = Array.map(
          Object.values(Array.groupBy(messages, ({ accountId, chatId }) => `${accountId} ${chatId}`)),
          (of) => ({ accountId: of[0].accountId, chatId: of[0].chatId, waiting: of.length })
        )
        yield* jobs.arrive(chats, now)
      })

      const move = Effect.fn("AiLogs.move")(function* (
        from: AiLog,
        changes: Changes,
        event: Option.Option<ReplyEvent>
      ) {
        const to = AiLog.make({ ...from, ...changes })
        if (!(yield* repo.move(from, to))) return false
        if (!to.isOpen) yield* Metric.increment(Metric.tagged(aiReplies, "outcome", to.status))
        if (Option.isNone(event)) return true
        const timestamp = yield* DateTime.now
        const owner = { kind: "account", id: to.accountId } as const
        yield* outbox.publish([{ eventId: yield* nextId, owner, event: event.value, timestamp, data: aiLogData(to) }])
        return true
      })

      const settled = Effect.fn("AiLogs.settled")(function* (messageId: string, failure: Option.Option<string>) {
        const part = yield* jobs.part(messageId)
        if (Option.isNone(part) || !part.value.log.isOpen) return false
        const { isLast, log } = part.value
        if (Option.isNone(failure) && !isLast) return false
        const isOurs = yield* Option.match(failure, {
          onNone: () => move(log, { status: "sent" }, Option.some("ai.reply.sent")),
          onSome: () => move(log, { status: "failed", reason: failure }, Option.some("ai.reply.failed"))
        })
        return isOurs && (yield* jobs.end(log, 1, Option.some(log.id), yield* DateTime.now))
      })

      return AiLogs.of({
        request,
        due: (accountId, limit) => jobs.due({ accountId, limit }),
        dueAmong: (accountIds) =>
          Effect.map(jobs.dueAmong(accountIds), (rows) => new Set(rows.map(({ accountId }) => accountId))),
        move,
        settled,
        page: ({ accountId, before, chatId, limit, status }) =>
          repo.page({
            accountId: Option.getOrNull(accountId),
            chatId: Option.getOrNull(chatId),
            status: Option.getOrNull(status),
            before: Option.getOrNull(before),
            limit
          })
      })
    })
  )
}
