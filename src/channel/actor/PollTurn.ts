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

/** All that is kept of a channel between two polls. */
export interface Polled {
  readonly id: ChannelId
  /** Told when something came in. */
  readonly onNews: Effect.Effect<void>
  /** When it is to be polled, in milliseconds; none before the first time. */
  dueAt: number | undefined
  /** Polls in a row that the platform did not answer. */
  outages: number
}

/**
 * Asks the platform once for new messages of a channel (gateway specification, part 6). What the poll found and where the
 * next one goes on commit together. Answers how long to wait for the next; none when the channel is no longer connected.
 */
export const pollTurns = Effect.fn("PollTurn")(function* (options: { readonly interval: Duration.Duration }) {
  const sessions = yield* ChannelSessions
  const platform = yield* PlatformB

  /** How long after its moment a poll was answered. */
  const noteLateness = ({ dueAt }: Polled) =>
    dueAt === undefined
      ? Effect.void
      : Effect.flatMap(Clock.currentTimeMillis, (now) => Metric.update(pollLateness, Math.max(0, now - dueAt) / 1_000))

  const afterFailure = Effect.fn("PollTurn.afterFailure")(function* (
    polled: Polled,
    open: OpenChannel,
    failure: PlatformFailure
  ) {
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
        polled.outages += 1
        yield* Effect.logInfo("a poll failed").pipe(
          Effect.annotateLogs({ reason: failure.reason, detail: failure.detail, outages: polled.outages })
        )
        return afterOutage(polled.outages, yield* Random.next)
    }
  })

  return Effect.fn("PollTurn.turn")(function* (polled: Polled) {
    const opened = yield* sessions.open(polled.id)
    if (Option.isNone(opened)) return Option.none<Duration.Duration>()
    const open = opened.value
    const { frozenUntil, pausedUntil } = open.channel
    const now = yield* DateTime.now
    if (isAhead(pausedUntil, now)) {
      return Option.map(pausedUntil, (until) => DateTime.distanceDuration(now, until))
    }
    const found = yield* Effect.either(platform.poll(open.session, open.cursor))
    yield* noteLateness(polled)
    if (Either.isLeft(found)) return Option.some(yield* afterFailure(polled, open, found.left))
    polled.outages = 0
    yield* succeeded
    if (yield* sessions.keep(open, found.right)) yield* polled.onNews
    const interval = isAhead(frozenUntil, now) ? whileFrozen(options.interval) : options.interval
    return Option.some(jittered(interval, yield* Random.next))
  })
})
