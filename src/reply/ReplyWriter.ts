import { Context, Data, type DateTime, Duration, Effect, Layer, Option } from "effect"
import { together } from "../kit/Together.ts"
import { Outbox } from "../webhook/Outbox.ts"
import { AiLogs, type LogMove } from "./AiLogs.ts"
import { ReplyChannel, type ReplyMessage } from "./ReplyChannel.ts"
import { ReplyJobRepo } from "./ReplyJobRepo.ts"

/** Another worker was faster: nothing was written, the job is looked at anew. */
export class Outrun extends Data.TaggedError("Outrun")<{}> {}

/** A step of a reply that is under way: what its log becomes, and when it goes on; none: when its messages are sent. */
export interface ReplyStep extends LogMove {
  readonly goesOnAt: Option.Option<DateTime.Utc>
  /** What the channel is to send, in order, and when. */
  readonly messages: ReadonlyArray<Pick<ReplyMessage, "id" | "body" | "notBefore">>
}

/** Replies that are written by one transaction. */
const writtenAtOnce = 64
/** A transaction waits so long for others while there are several. */
const gathering = Duration.millis(50)

const orOutrun = (changed: Effect.Effect<ReadonlySet<string>>, expected: number) =>
  Effect.filterOrFail(
    changed,
    ({ size }) => size === expected,
    () => new Outrun()
  )

/**
 * Writes the steps of replies, of many chats together: log, job, messages and events of a step are one transaction, and
 * what comes while one is on its way shares the next.
 */
export class ReplyWriter extends Context.Tag("gatehouse/reply/ReplyWriter")<
  ReplyWriter,
  {
    readonly goOn: (step: ReplyStep) => Effect.Effect<void, Outrun>
  }
>() {
  static readonly layer = Layer.scoped(
    ReplyWriter,
    Effect.gen(function* () {
      const logs = yield* AiLogs
      const jobs = yield* ReplyJobRepo
      const channel = yield* ReplyChannel
      const outbox = yield* Outbox

      const goOnAll = Effect.fn("ReplyWriter.goOnAll")(
        function* (steps: ReadonlyArray<ReplyStep>) {
          yield* orOutrun(logs.move(steps), steps.length)
          const parts = steps.flatMap(({ from, messages }) =>
            messages.map(({ id }, position) => ({
              messageId: id,
              logId: from.id,
              position,
              isLast: position === messages.length - 1
            }))
          )
          if (parts.length > 0) {
            yield* jobs.addParts(parts)
            yield* channel.queue(
              steps.flatMap(({ from, messages }) =>
                messages.map((message) => ({ ...message, accountId: from.accountId, to: from.chatId }))
              )
            )
          }
          const moments = steps.map(({ from, goesOnAt }) => ({ log: from, at: goesOnAt }))
          yield* orOutrun(jobs.goOn(moments), steps.length)
          return steps.map(() => undefined)
        },
        (effect) => outbox.transaction(effect),
        Effect.catchTag("SqlError", Effect.die)
      )

      return ReplyWriter.of({ goOn: yield* together(writtenAtOnce, goOnAll, gathering) })
    })
  )
}
