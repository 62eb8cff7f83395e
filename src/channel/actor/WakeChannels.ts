import { Singleton } from "@effect/cluster"
import { Array, Effect, Layer, Queue, Schedule } from "effect"
import { supervise } from "../../kit/Supervise.ts"
import { ChannelSessions } from "../ChannelSessions.ts"
import { ChannelWaker } from "../ChannelWaker.ts"
import type { ChannelId } from "../domain/Channel.ts"
import { ChannelEntity } from "./ChannelEntity.ts"

const waiting = 10_000
const callsAtOnce = 8

/** Wake-ups by entity address. Those that come while one is under way for the same channel are one. */
export const waker = Layer.scoped(
  ChannelWaker,
  Effect.gen(function* () {
    const clientOf = yield* ChannelEntity.client
    const queue = yield* Queue.dropping<ChannelId>(waiting)
    const queued = new Set<ChannelId>()

    const next = Effect.gen(function* () {
      const id = yield* Queue.take(queue)
      queued.delete(id)
      yield* clientOf(id)
        .Wake()
        .pipe(Effect.catchAll((error) => Effect.logDebug("a channel could not be woken", error)))
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

const wakeConnected = Effect.gen(function* () {
  const sessions = yield* ChannelSessions
  const channels = yield* ChannelWaker
  yield* Effect.forEach(yield* sessions.connected, channels.wake, { discard: true })
})

/** At the start, and every minute as a safety net, wakes every connected channel. */
export const layer = Singleton.make(
  "WakeChannels",
  supervise("WakeChannels", Effect.asVoid(Effect.repeat(wakeConnected, Schedule.spaced("1 minute"))))
)
