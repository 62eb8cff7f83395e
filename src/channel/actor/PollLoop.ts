import { Duration, Effect, Metric, Option, Random, Ref } from "effect"
import { channelPolls } from "../../Metrics.ts"
import { PlatformB, type PlatformFailure } from "../../platform/Platform.ts"
import type { ChannelId } from "../domain/Channel.ts"
import { afterOutage, afterRateLimit, jittered } from "../domain/Pace.ts"
import { LiveSession } from "../LiveSession.ts"
import { Messages } from "../Messages.ts"

interface Trouble {
  readonly rateLimits: number
  readonly outages: number
}

const calm: Trouble = { rateLimits: 0, outages: 0 }

const counted = (result: string) => Metric.increment(Metric.tagged(channelPolls, "result", result))

/**
 * Polls one channel until its connection ends (gateway specification, part 6): session, cursor and messages of a poll are
 * one transaction. `onWork` is run when a message came in. Failures of the platform set the pace of the next poll.
 */
export const pollLoop = Effect.fn("PollLoop")(function* (
  id: ChannelId,
  options: { readonly interval: Duration.Duration; readonly onWork: Effect.Effect<void> }
) {
  const platform = yield* PlatformB
  const sessions = yield* LiveSession
  const messages = yield* Messages
  const trouble = yield* Ref.make(calm)

  const pause = Effect.fn("PollLoop.pause")(function* (failure: PlatformFailure) {
    const isLimited = failure.reason === "rate_limited" || failure.reason === "action_blocked"
    const { outages, rateLimits } = yield* Ref.updateAndGet(trouble, (before) => ({
      rateLimits: before.rateLimits + (isLimited ? 1 : 0),
      outages: before.outages + (isLimited ? 0 : 1)
    }))
    yield* counted(failure.reason)
    yield* Effect.logWarning("a poll failed").pipe(Effect.annotateLogs({ channel: id, reason: failure.reason }))
    return isLimited ? afterRateLimit(rateLimits, failure.retryAfter) : afterOutage(outages)
  })

  const poll = Effect.gen(function* () {
    const live = yield* sessions.open(id)
    if (Option.isNone(live)) return Option.none<Duration.Duration>()
    const { channel, cursor, session } = live.value
    const polled = yield* platform.poll(session, cursor)
    const progress = sessions.progress(id, polled.session, polled.cursor)
    const hasWork = yield* messages.record(channel, polled.messages, progress)
    if (hasWork) yield* options.onWork
    yield* Ref.set(trouble, calm)
    yield* counted("ok")
    return Option.some(jittered(options.interval, yield* Random.next))
  })

  const turn = poll.pipe(
    Effect.catchTag("PlatformFailure", (failure) =>
      Effect.flatMap(sessions.endedBy(id, failure), (hasEnded) =>
        hasEnded ? Effect.succeedNone : Effect.asSome(pause(failure))
      )
    ),
    Effect.withSpan("PollLoop.poll", { root: true })
  )

  return yield* Effect.repeat(
    Effect.flatMap(turn, (wait) => Effect.as(Effect.forEach(Option.toArray(wait), Effect.sleep), Option.isSome(wait))),
    { while: (goesOn) => goesOn }
  )
})
