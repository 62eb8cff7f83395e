import { Entity } from "@effect/cluster"
import { Rpc } from "@effect/rpc"
import { Duration, Effect, FiberMap, Option, Queue } from "effect"
import { supervise } from "../../kit/Supervise.ts"
import { ChannelId } from "../domain/Channel.ts"
import { LiveSession } from "../LiveSession.ts"
import { messageSender } from "./MessageSender.ts"
import { pollLoop } from "./PollLoop.ts"
import { replySender } from "./ReplySender.ts"

/** One entity per channel: the only one who polls it, sends for it and answers in it. `Wake`: look again. */
export const ChannelEntity = Entity.make("Channel", [Rpc.make("Wake")])

/** A channel stays: its poll loop, not messages to it, is its life. */
const maxIdleTime = Duration.days(3650)

const lookAgain = "1 minute"

/** Runs what a connected channel needs, each part under its own supervisor; nothing for any other channel. */
const channelActor = Effect.fn("ChannelActor")(function* (
  id: ChannelId,
  wake: Queue.Dequeue<void>,
  options: { readonly pollInterval: Duration.Duration }
) {
  const sessions = yield* LiveSession
  const parts = yield* FiberMap.make<"PollLoop" | "MessageSender" | "ReplySender">()
  const toSend = yield* Queue.sliding<void>(1)
  const toAnswer = yield* Queue.sliding<void>(1)
  const onWork = Effect.asVoid(Queue.offer(toAnswer, undefined))

  const start = Effect.gen(function* () {
    const once = { onlyIfMissing: true }
    const interval = options.pollInterval
    yield* FiberMap.run(parts, "PollLoop", supervise("PollLoop", pollLoop(id, { interval, onWork })), once)
    yield* FiberMap.run(parts, "MessageSender", supervise("MessageSender", messageSender(id, toSend)), once)
    yield* FiberMap.run(parts, "ReplySender", supervise("ReplySender", replySender(id, toAnswer)), once)
  })

  const turn = Effect.gen(function* () {
    const live = yield* sessions.open(id)
    yield* Option.isSome(live) ? start : FiberMap.clear(parts)
    yield* Queue.offer(toSend, undefined)
    yield* Queue.offer(toAnswer, undefined)
    yield* Effect.timeoutOption(Queue.take(wake), lookAgain)
  })

  return yield* Effect.forever(turn)
}, Effect.scoped)

export const layer = (options: { readonly pollInterval: Duration.Duration }) =>
  ChannelEntity.toLayer(
    Effect.gen(function* () {
      const address = yield* Entity.CurrentAddress
      const wake = yield* Queue.sliding<void>(1)
      const id = ChannelId.make(address.entityId)
      const actor = supervise("ChannelActor", channelActor(id, wake, options)).pipe(
        Effect.annotateLogs({ channel: id })
      )
      yield* Effect.forkScoped(actor)
      return ChannelEntity.of({ Wake: () => Effect.asVoid(Queue.offer(wake, undefined)) })
    }),
    { maxIdleTime }
  )
