import { DateTime, Duration, Effect, Either, Metric, Option, Random } from "effect"
import { channelPolls } from "../../Metrics.ts"
import { PlatformB, type PlatformFailure } from "../../platform/Platform.ts"
import { ChannelSessions, type OpenChannel } from "../ChannelSessions.ts"
import type { ChannelId } from "../domain/Channel.ts"
import { afterOutage, jittered } from "../domain/Pace.ts"
import { whilePolling } from "../Trouble.ts"

const counted = (result: "ok" | PlatformFailure["reason"]) =>
  Metric.increment(Metric.tagged(channelPolls, "result", result))

/**
 * Asks the platform for new messages of one channel, for as long as the channel is connected (gateway specification, part
 * 6): about every `interval`, from a phase of its own, so that channels do not poll in step. What a poll found and where
 * the next one goes on commit together. `onNews` is told when something came in.
 */
export const pollLoop = Effect.fn("PollLoop")(function* (
  id: ChannelId,
  options: { readonly interval: Duration.Duration },
  onNews: Effect.Effect<void>
) {
  const sessions = yield* ChannelSessions
  const platform = yield* PlatformB
  const pause = Effect.map(Random.next, (chance) => jittered(options.interval, chance))
  let outages = 0

  const afterFailure = Effect.fn("PollLoop.afterFailure")(function* (open: OpenChannel, failure: PlatformFailure) {
    yield* counted(failure.reason)
    switch (whilePolling(failure)) {
      case "rest":
        yield* sessions.rest(open, failure, "all")
        return Duration.zero
      case "end":
        yield* sessions.lost(open, failure, "error")
        return Duration.zero
      case "challenge":
        yield* sessions.lost(open, failure, "challenge_required")
        return Duration.zero
      case "wait":
        outages += 1
        yield* Effect.logInfo("a poll failed").pipe(
          Effect.annotateLogs({ reason: failure.reason, detail: failure.detail, outages })
        )
        return afterOutage(outages)
    }
  })

  /** How long to wait for the next turn; none when the channel is no longer connected. */
  const turn = Effect.gen(function* () {
    const opened = yield* sessions.open(id)
    if (Option.isNone(opened)) return Option.none<Duration.Duration>()
    const open = opened.value
    const now = yield* DateTime.now
    if (Option.exists(open.pausedUntil, DateTime.greaterThan(now))) {
      return Option.map(open.pausedUntil, (until) => DateTime.distanceDuration(now, until))
    }
    const polled = yield* Effect.either(platform.poll(open.session, open.cursor))
    if (Either.isLeft(polled)) return Option.some(yield* afterFailure(open, polled.left))
    outages = 0
    yield* counted("ok")
    if (yield* sessions.keep(open, polled.right)) yield* onNews
    return Option.some(yield* pause)
  }).pipe(Effect.withSpan("PollLoop.turn", { root: true, attributes: { channel: id } }))

  const isFirst = Option.exists(yield* sessions.open(id), ({ cursor }) => Option.isNone(cursor))
  if (!isFirst) yield* Effect.sleep(Duration.times(options.interval, yield* Random.next))
  let wait = yield* turn
  while (Option.isSome(wait)) {
    yield* Effect.sleep(wait.value)
    wait = yield* turn
  }
})
