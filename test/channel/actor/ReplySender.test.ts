import { it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Clock, DateTime, Duration, Effect, Layer } from "effect"
import { ReplyCalls } from "../../../src/channel/actor/ReplyCalls.ts"
import { replySender } from "../../../src/channel/actor/ReplySender.ts"
import { ChannelId } from "../../../src/channel/domain/Channel.ts"
import { AiLogs } from "../../../src/reply/AiLogs.ts"
import { AutoReply } from "../../../src/reply/AutoReply.ts"
import { Next } from "../../../src/reply/domain/Next.ts"
import { until } from "../../support/Until.ts"

const id = ChannelId.make("00000000-0000-4000-8000-000000000001")

/** Timers that come before the clock shows their moment, as those of Node do by a fraction of a millisecond. */
const hasty = Effect.map(Effect.clock, (clock): Clock.Clock => ({
  ...clock,
  unsafeCurrentTimeMillis: () => clock.unsafeCurrentTimeMillis(),
  unsafeCurrentTimeNanos: () => clock.unsafeCurrentTimeNanos(),
  sleep: (duration) => clock.sleep(Duration.subtract(duration, "5 millis"))
}))

it.scopedLive("a reply is not forgotten when the timer that was set for it comes early", () =>
  Effect.gen(function* () {
    const answered: Array<string> = []
    const dueAt = DateTime.addDuration(yield* DateTime.now, "100 millis")
    const services = Layer.mergeAll(
      Layer.mock(AiLogs, { due: () => Effect.sync(() => (answered.length === 0 ? [{ chatId: "pb:1", dueAt }] : [])) }),
      Layer.mock(AutoReply, {
        advance: (_, chatId) => Effect.sync(() => (answered.push(chatId), Next.Idle()))
      })
    )
    const loop = replySender(id, new ReplyCalls(), Effect.void).pipe(
      Effect.provide(services),
      Effect.withClock(yield* hasty)
    )
    yield* Effect.forkScoped(loop)
    yield* until(
      Effect.sync(() => answered.length),
      (count) => count > 0
    )
    deepStrictEqual(answered, ["pb:1"])
  })
)
