import { type Duration, Effect, FiberMap, Option, Queue, Ref } from "effect"
import { supervise } from "../../kit/Supervise.ts"
import { type PlatformA, PlatformB, type PushConnection } from "../../platform/Platform.ts"
import { AiLogs } from "../../reply/AiLogs.ts"
import type { AutoReply } from "../../reply/AutoReply.ts"
import { ChannelSessions } from "../ChannelSessions.ts"
import { ChannelWaker } from "../ChannelWaker.ts"
import type { ChannelId } from "../domain/Channel.ts"
import { LinkedChannels } from "../LinkedChannels.ts"
import type { Messages } from "../Messages.ts"
import type { SendGate } from "../SendGate.ts"
import type { SendQueue } from "../SendQueue.ts"
import { messageSender } from "./MessageSender.ts"
import { pollLoop } from "./PollLoop.ts"
import { replySender } from "./ReplySender.ts"
import { outletOf, session } from "./Session.ts"

type Loop = "session" | "poll" | "send" | "reply"
type Needs =
  ChannelSessions | LinkedChannels | PlatformA | PlatformB | Messages | SendGate | SendQueue | AiLogs | AutoReply

export interface ChannelActor {
  /** Looks at the channel again: starts, restarts or ends the loops. False when it is not connected. */
  readonly wake: Effect.Effect<boolean>
}

/**
 * The loops of one channel, owned by the scope. Each is supervised by itself: a crash restarts that loop of that channel
 * and nothing else. The send and reply loops begin when there is something to do. A new login replaces the poll loop, which
 * may be resting on account of the login before.
 */
export const make = Effect.fn("ChannelActor.make")(function* (
  id: ChannelId,
  options: { readonly pollInterval: Duration.Duration }
) {
  const sessions = yield* ChannelSessions
  const waker = yield* ChannelWaker
  const linked = yield* LinkedChannels
  const polled = yield* PlatformB
  const live = yield* Ref.make(Option.none<PushConnection>())
  const pushed = yield* outletOf(live)
  const context = yield* Effect.context<Needs>()
  const logs = yield* AiLogs
  const loops = yield* FiberMap.make<Loop>()
  const toSend = yield* Queue.sliding<void>(1)
  const toAnswer = yield* Queue.sliding<void>(1)
  let login = Option.none<number>()
  let link = Option.none<number>()
  yield* Effect.addFinalizer(() => Effect.sync(() => sessions.unattend(id)))

  const run = (loop: Loop, effect: Effect.Effect<void, never, Needs>, isNewLogin: boolean) =>
    FiberMap.run(
      loops,
      loop,
      supervise(`channel ${loop}`, Effect.provide(effect, context)).pipe(
        Effect.annotateLogs({ channel: id }),
        Effect.withTracerEnabled(false)
      ),
      { onlyIfMissing: !isNewLogin }
    )

  const sender = (isPolled: boolean) => messageSender(id, toSend, isPolled ? polled : pushed)
  const send = (isPolled: boolean) =>
    Effect.zipRight(run("send", sender(isPolled), false), Effect.asVoid(Queue.offer(toSend, undefined)))

  /** Most channels have nothing to answer for hours: the loop begins with the first message. */
  const answer = (isPolled: boolean) =>
    Effect.zipRight(
      run("reply", replySender(id, toAnswer, send(isPolled)), false),
      Effect.asVoid(Queue.offer(toAnswer, undefined))
    )

  /** The session of a linked channel lives also while there is nothing to send through: it is what waits for the phone. */
  const keepLinked = Effect.gen(function* () {
    const wanted = yield* linked.login(id)
    if (Option.isNone(wanted)) return yield* FiberMap.remove(loops, "session")
    const isNew = !Option.contains(link, wanted.value.loginCount)
    link = Option.some(wanted.value.loginCount)
    yield* run("session", session(wanted.value, live, { news: answer(false), changed: look }), isNew)
  })

  const keepSending = Effect.gen(function* () {
    const open = yield* sessions.attend(id)
    if (Option.isNone(open)) {
      yield* Effect.forEach(["poll", "send", "reply"] as const, (loop) => FiberMap.remove(loops, loop))
      return
    }
    const isNewLogin = !Option.contains(login, open.value.loginCount)
    login = Option.some(open.value.loginCount)
    const isPolled = open.value.channel.platform === "platform_b"
    if (isPolled) yield* run("poll", pollLoop(id, { interval: options.pollInterval }, answer(true)), isNewLogin)
    if (open.value.hasUnsent) yield* run("send", sender(isPolled), isNewLogin)
    yield* Queue.offer(toSend, undefined)
    if ((yield* FiberMap.has(loops, "reply")) || (yield* logs.due(id, 1, [])).length > 0) yield* answer(isPolled)
  })

  const look = Effect.suspend(() => waker.wake(id))
  const wake = keepLinked.pipe(
    Effect.zipRight(keepSending),
    Effect.zipRight(FiberMap.size(loops)),
    Effect.map((alive) => alive > 0)
  )

  return { wake } satisfies ChannelActor
})
