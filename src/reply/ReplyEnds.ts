import { DateTime, Effect, Option } from "effect"
import { Outbox } from "../webhook/Outbox.ts"
import { AiLogs, type LogMove } from "./AiLogs.ts"
import type { AiLog } from "./domain/AiLog.ts"
import type { SkipReason } from "./domain/Eligibility.ts"
import { ReplyJobRepo } from "./ReplyJobRepo.ts"
import { Outrun } from "./ReplyWriter.ts"

/** The steps of single replies that are seldom taken: each joins the transaction that `atomically` opens, or fails it. */
export const make = Effect.gen(function* () {
  const logs = yield* AiLogs
  const jobs = yield* ReplyJobRepo
  const outbox = yield* Outbox

  const atomically = <A>(steps: Effect.Effect<A, Outrun>): Effect.Effect<A, Outrun> =>
    Effect.catchTag(outbox.transaction(steps), "SqlError", Effect.die)

  const orOutrun = (change: Effect.Effect<boolean>): Effect.Effect<void, Outrun> =>
    Effect.flatMap(change, (isOurs) => (isOurs ? Effect.void : new Outrun()))

  const moved = (move: LogMove) => orOutrun(Effect.map(logs.move([move]), ({ size }) => size === 1))

  const end = (log: AiLog) =>
    Effect.flatMap(DateTime.now, (now) => orOutrun(jobs.end(log, 1, Option.some(log.id), now)))

  const begun = (log: AiLog) => orOutrun(Effect.map(jobs.begin([log]), ({ size }) => size === 1))

  const skip = (log: AiLog, reason: SkipReason) =>
    moved({
      from: log,
      changes: { status: "skipped", reason: Option.some(reason), replyMessageId: Option.none() },
      event: Option.none()
    })

  const failed = (log: AiLog, reason: string, detail: Option.Option<string>) =>
    Effect.zipRight(
      moved({
        from: log,
        changes: { status: "failed", reason: Option.some(reason), detail },
        event: Option.some("ai.reply.failed")
      }),
      end(log)
    )

  return { atomically, begun, end, failed, moved, orOutrun, skip } as const
})
