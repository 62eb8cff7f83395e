import { Singleton } from "@effect/cluster"
import { Array, Chunk, DateTime, Duration, Effect, Layer, Queue, Schedule } from "effect"
import { supervise } from "../../kit/Supervise.ts"
import { ChannelSessions } from "../ChannelSessions.ts"
import { ChannelWaker } from "../ChannelWaker.ts"
import type { ChannelId } from "../domain/Channel.ts"
import { SendQueue } from "../SendQueue.ts"
import { ChannelEntity, laneOf } from "./ChannelEntity.ts"

const waiting = 100_000
const callsAtOnce = 8

/**
 * Wake-ups by entity address. Those that wait for the same channel are one, and those for one address go in one call: a
 * program that starts wakes thousands.
 */
export const waker = Layer.scoped(
  ChannelWaker,
  Effect.gen(function* () {
    const clientOf = yield* ChannelEntity.client
    const queue = yield* Queue.dropping<ChannelId>(waiting)
    const queued = new Set<ChannelId>()

    const wake = (lane: string, ids: ReadonlyArray<ChannelId>) =>
      clientOf(lane)
        .Wake({ ids })
        .pipe(Effect.catchAll((error) => Effect.logDebug("channels could not be woken", error)))

    const next = Effect.gen(function* () {
      const ids = Chunk.toReadonlyArray(yield* Queue.takeBetween(queue, 1, waiting))
      ids.forEach((id) => queued.delete(id))
      yield* Effect.forEach(Object.entries(Array.groupBy(ids, laneOf)), ([lane, those]) => wake(lane, those), {
        concurrency: callsAtOnce,
        discard: true
      })
    })
    yield* Effect.forEach(
      Array.range(1, callsAtOnce),
      () => Effect.forkScoped(supervise("ChannelWaker", Effect.forever(next))),
      { discard: true }
    )

    return ChannelWaker.of({
      wake: (id) =>
        Effect.suspend(() => {
          if (queued.has(id)) return Effect.void
          queued.add(id)
          return Effect.map(Queue.offer(queue, id), (isQueued) => {
            if (!isQueued) queued.delete(id)
          })
        })
    })
  })
)

/** A channel that polls is heard of every interval; a minute more is given before it is taken for gone. */
const silence = (pollInterval: Duration.Duration) => Duration.sum(Duration.times(pollInterval, 3), Duration.minutes(1))

const wakeAll = (since: (now: DateTime.Utc) => DateTime.Utc) =>
  Effect.gen(function* () {
    const sessions = yield* ChannelSessions
    const queue = yield* SendQueue
    const channels = yield* ChannelWaker
    const now = yield* DateTime.now
    const silent = yield* sessions.silentSince(since(now))
    const waiting = yield* queue.waiting(now)
    yield* Effect.forEach(Array.dedupe([...silent, ...waiting]), channels.wake, { discard: true })
  })

/** At the start wakes every connected channel, and every minute, as a safety net, those that have fallen silent. */
export const layer = (options: { readonly pollInterval: Duration.Duration }) =>
  Singleton.make(
    "WakeChannels",
    supervise(
      "WakeChannels",
      wakeAll((now) => now).pipe(
        Effect.zipRight(
          wakeAll(DateTime.subtractDuration(silence(options.pollInterval))).pipe(
            Effect.schedule(Schedule.spaced("1 minute"))
          )
        ),
        Effect.asVoid
      )
    )
  )
