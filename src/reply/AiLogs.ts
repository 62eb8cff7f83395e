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

export type ReplyEvent = "ai.reply.generated" | "ai.reply.sent" | "ai.reply.failed"
export type Changes = Partial<Omit<typeof AiLog.Type, "id" | "isOpen">>

export interface LogMove {
  readonly from: AiLog
  readonly changes: Changes
  readonly event: Option.Option<ReplyEvent>
}

/** The log of replies, which is also the durable list of replies to make. */
export class AiLogs extends Context.Tag("gatehouse/reply/AiLogs")<
  AiLogs,
  {
    /** Asks for a reply to each message, inside the transaction that stores the messages. */
    readonly request: (messages: ReadonlyArray<IncomingMessage>) => Effect.Effect<void>
    /**
     * The chats of an account, but for some, where something is to be done about replies, the most urgent first; and after
     * those the first of the later ones, by whose moment to look again.
     */
    readonly due: (
      accountId: string,
      limit: number,
      but: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<DueChat>>
    /** Those of the accounts where something is to be done about replies. */
    readonly dueAmong: (accountIds: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>>
    /**
     * Changes replies and tells of it. Answers those that were as they were read; nothing is done about the others. Joins
     * a transaction.
     */
    readonly move: (moves: ReadonlyArray<LogMove>) => Effect.Effect<ReadonlySet<AiLogId>>
    /**
     * The channel has sent messages: inside the transaction that says so of them. Answers, by message, the chats where a
     * reply has ended with it and another one is due.
     */
    readonly sent: (messageIds: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, string>>
    /** The channel will not send a message, for the reason given. Answers the chat where another reply is due thereby. */
    readonly unsent: (messageId: string, failure: string) => Effect.Effect<Option.Option<string>>
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
        const rows = yield* Effect.forEach(messages, (message) =>
          Effect.map(nextId, (id) => ({ ...message, id: AiLogId.make(id) }))
        )
        yield* repo.insert(rows, now)
        const chats = Array.map(
          Object.values(Array.groupBy(messages, ({ accountId, chatId }) => `${accountId} ${chatId}`)),
          (of) => ({ accountId: of[0].accountId, chatId: of[0].chatId, waiting: of.length })
        )
        yield* jobs.arrive(chats, now)
      })

      const move = Effect.fn("AiLogs.move")(function* (moves: ReadonlyArray<LogMove>) {
        const all = moves.map(({ changes, event, from }) => ({
          from,
          to: AiLog.make({ ...from, ...changes }, true),
          event
        }))
        const moved = yield* repo.move(all)
        const done = all.filter(({ from }) => moved.has(from.id))
        const ended = Array.groupBy(
          done.filter(({ to }) => !to.isOpen),
          ({ to }) => to.status
        )
        for (const [status, of] of Object.entries(ended)) {
          yield* Metric.incrementBy(Metric.tagged(aiReplies, "outcome", status), of.length)
        }
        const timestamp = yield* DateTime.now
        const told = done.flatMap(({ event, to }) => Option.toArray(event).map((name) => ({ event: name, to })))
        const events = yield* Effect.forEach(told, ({ event, to }) =>
          Effect.map(nextId, (eventId) => {
            const owner = { kind: "account", id: to.accountId } as const
            return { eventId, owner, event, timestamp, data: aiLogData(to) }
          })
        )
        yield* outbox.publish(events)
        return moved
      })

      const sent = Effect.fn("AiLogs.sent")(function* (messageIds: ReadonlyArray<string>) {
        const parts = yield* jobs.parts(messageIds)
        const last = [...parts].filter(([, { isLast, log }]) => isLast && log.isOpen)
        if (last.length === 0) return new Map<string, string>()
        const event = Option.some("ai.reply.sent" as const)
        const moved = yield* move(
          last.map(([, { log }]) => ({ from: log, changes: { status: "sent" as const }, event }))
        )
        const ended = last.filter(([, { log }]) => moved.has(log.id))
        const finished = yield* jobs.finish(
          ended.map(([, { log }]) => log),
          yield* DateTime.now
        )
        return new Map(ended.filter(([, { log }]) => finished.has(log.id)).map(([id, { log }]) => [id, log.chatId]))
      })

      const unsent = Effect.fn("AiLogs.unsent")(function* (messageId: string, failure: string) {
        const part = (yield* jobs.parts([messageId])).get(messageId)
        if (part === undefined || !part.log.isOpen) return Option.none<string>()
        const changes = { status: "failed" as const, reason: Option.some(failure) }
        const moved = yield* move([{ from: part.log, changes, event: Option.some("ai.reply.failed") }])
        if (!moved.has(part.log.id)) return Option.none<string>()
        const { size } = yield* jobs.finish([part.log], yield* DateTime.now)
        return size === 1 ? Option.some(part.log.chatId) : Option.none<string>()
      })

      return AiLogs.of({
        request,
        due: (accountId, limit, but) => Effect.flatMap(DateTime.now, (now) => jobs.due({ accountId, limit, but, now })),
        dueAmong: (accountIds) =>
          Effect.map(jobs.dueAmong(accountIds), (rows) => new Set(rows.map(({ accountId }) => accountId))),
        move,
        sent,
        unsent,
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
