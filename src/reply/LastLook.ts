import { Array, Context, Effect, Layer, Option } from "effect"
import type { AiLog } from "./domain/AiLog.ts"
import { skipReason, type SkipReason } from "./domain/Eligibility.ts"
import * as ReplyEnds from "./ReplyEnds.ts"
import { ReplyJobRepo } from "./ReplyJobRepo.ts"
import { Rules } from "./Rules.ts"

/** The rules once more, when nothing but the platform is ahead of a reply. */
export class LastLook extends Context.Tag("gatehouse/reply/LastLook")<
  LastLook,
  {
    /**
     * Asked by the channel right before it sends messages, in the transaction that says so: the reasons why replies may
     * not go out any more, which ends them, by message.
     */
    readonly withheld: (messageIds: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, string>>
  }
>() {
  static readonly layer = Layer.effect(
    LastLook,
    Effect.gen(function* () {
      const jobs = yield* ReplyJobRepo
      const rules = yield* Rules
      const { end, failed, skip } = yield* ReplyEnds.make

      const withhold = (log: AiLog, isFirst: boolean, reason: SkipReason) =>
        (isFirst ? Effect.zipRight(skip(log, reason), end(log)) : failed(log, "cut short", Option.some(reason))).pipe(
          Effect.as<string>(reason),
          Effect.catchTag("Outrun", () => Effect.succeed("the reply has ended"))
        )

      const withheld = Effect.fn("AutoReply.withheld")(function* (messageIds: ReadonlyArray<string>) {
        const reasons = new Map<string, string>()
        const parts = [...(yield* jobs.parts(messageIds))]
        const [over, open] = Array.partition(parts, ([, { log }]) => log.isOpen)
        over.forEach(([id]) => reasons.set(id, "an earlier part was not sent"))
        if (open.length === 0) return reasons
        const held = yield* rules.held(open.map(([, { log }]) => log))
        for (const [[id, { isFirst, log }], { message, situation }] of Array.zip(open, held)) {
          const reason = skipReason(situation.rules, message)
          if (Option.isSome(reason)) reasons.set(id, yield* withhold(log, isFirst, reason.value))
        }
        return reasons
      })

      return LastLook.of({ withheld })
    })
  )
}
