import { Context, DateTime, Effect, Layer, Option } from "effect"
import { nextId } from "../kit/Id.ts"
import { AiLogRepo } from "./AiLogRepo.ts"
import { type AiLog, AiLogId, type AiLogStatus } from "./domain/AiLog.ts"

export interface IncomingMessage {
  readonly accountId: string
  readonly chatId: string
  readonly messageId: string
}

/** The log of replies, which is also the durable list of replies to make. */
export class AiLogs extends Context.Tag("gatehouse/reply/AiLogs")<
  AiLogs,
  {
    /** Asks for a reply to each message, inside the transaction that stores the messages. */
    readonly request: (messages: ReadonlyArray<IncomingMessage>) => Effect.Effect<void>
    readonly open: (accountId: string) => Effect.Effect<ReadonlyArray<AiLog>>
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

      const request = Effect.fn("AiLogs.request")(function* (messages: ReadonlyArray<IncomingMessage>) {
        if (messages.length === 0) return
        const createdAt = DateTime.toDateUtc(yield* DateTime.now)
        const rows = yield* Effect.forEach(messages, (message) =>
          Effect.map(nextId, (id) => ({ ...message, id: AiLogId.make(id), status: "pending" as const, createdAt }))
        )
        yield* repo.insert(rows)
      })

      return AiLogs.of({
        request,
        open: repo.open,
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
