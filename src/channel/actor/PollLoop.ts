import { Clock, DateTime, Duration, Effect, Either, Metric, Option, Random } from "effect"
import { channelPolls, pollLateness } from "../../Metrics.ts"
import { PlatformB, type PlatformFailure } from "../../platform/Platform.ts"
import { ChannelSessions, type OpenChannel } from "../ChannelSessions.ts"
import type { ChannelId } from "../domain/Channel.ts"
import { afterOutage, jittered, whileFrozen } from "../domain/Pace.ts"
import { isAhead } from "../domain/Pacing.ts"
import { whilePolling } from "../Trouble.ts"

const polls = (result: "ok" | PlatformFailure["reason"]) => Metric.tagged(channelPolls, "result", result)
const succeeded = Metric.increment(polls("ok"))

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
  let outages = 0
  let dueAt = Option.none<number>()

  /** How long after its moment a poll was answered. */
  const noteLateness = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    if (Option.isSome(dueAt)) yield* Metric.update(pollLateness, Math.max(0, now - dueAt.value) / 1_000)
  })

  const afterFailure = Effect.fn("PollLoop.afterFailure")(function* (open: OpenChannel, failure: PlatformFailure) {
    yield* Metric.increment(polls(failure.reason))
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
        return afterOutage(outages, yield* Random.next)
    }
  })

  /** How long to wait for the next turn; none when the channel is no longer connected. */
  const turn = Effect.gen(function* () {
    const opened = yield* sessions.open(id)
    if (Option.isNone(opened)) return Option.none<Duration.Duration>()
    const open = opened.value
    const { frozenUntil, pausedUntil } = open.channel
    const now = yield* DateTime.now
    if (isAhead(pausedUntil, now)) {
      return Option.map(pausedUntil, (until) => DateTime.distanceDuration(now, until))
    }
    const polled = yield* Effect.either(platform.poll(open.session, open.cursor))
    yield* noteLateness
    if (Either.isLeft(polled)) return Option.some(yield* afterFailure(open, polled.left))
    outages = 0
    yield* succeeded
    if (yield* sessions.keep(open, polled.right)) yield* onNews
    const interval = isAhead(frozenUntil, now) ? whileFrozen(options.interval) : options.interval
    return Option.some(jittered(interval, yield* Random.next))
  }).pipe(Effect.withSpan("PollLoop.turn", { root: true, attributes: { channel: id } }))

  const pause = (wait: Duration.Duration) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      dueAt = Option.some(now + Duration.toMillis(wait))
      yield* Effect.sleep(wait)
    })

  const isFirst = Option.exists(yield* sessions.open(id), ({ cursor }) => Option.isNone(cursor))
  if (!isFirst) yield* pause(Duration.times(options.interval, yield* Random.next))
  let wait = yield* turn
  while (Option.isSome(wait)) {
    yield* pause(wait.value)
    wait = yield* turn
  }
})
