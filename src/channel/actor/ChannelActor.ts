import { type Duration, Effect, FiberMap, Option, Queue } from "effect"
import { supervise } from "../../kit/Supervise.ts"
import type { PlatformB } from "../../platform/Platform.ts"
import type { AiLogs } from "../../reply/AiLogs.ts"
import type { AutoReply } from "../../reply/AutoReply.ts"
import { ChannelSessions } from "../ChannelSessions.ts"
import type { ChannelId } from "../domain/Channel.ts"
import type { Messages } from "../Messages.ts"
import type { SendQueue } from "../SendQueue.ts"
import { messageSender } from "./MessageSender.ts"
import { pollLoop } from "./PollLoop.ts"
import { replySender } from "./ReplySender.ts"

type Needs = ChannelSessions | PlatformB | Messages | SendQueue | AiLogs | AutoReply

export interface ChannelActor {
  /** Looks at the channel again: starts, restarts or ends the loops. */
  readonly wake: Effect.Effect<void>
}

/**
 * The loops of one channel, owned by the scope. Each is supervised by itself: a crash restarts that loop of that channel
 * and nothing else. A new login replaces the poll loop, which may be resting on account of the login before.
 */
export const make = Effect.fn("ChannelActor.make")(function* (
  id: ChannelId,
  options: { readonly pollInterval: Duration.Duration }
) {
  const sessions = yield* ChannelSessions
  const context = yield* Effect.context<Needs>()
  const loops = yield* FiberMap.make<"poll" | "send" | "reply">()
  const toSend = yield* Queue.sliding<void>(1)
  const toAnswer = yield* Queue.sliding<void>(1)
  let login = Option.none<number>()

  const run = (loop: "poll" | "send" | "reply", effect: Effect.Effect<void, never, Needs>, isNewLogin: boolean) =>
    FiberMap.run(
      loops,
      loop,
      supervise(`channel ${loop}`, Effect.provide(effect, context)).pipe(Effect.annotateLogs({ channel: id })),
      { onlyIfMissing: !isNewLogin }
    )

  const wake = Effect.gen(function* () {
    const open = yield* sessions.open(id)
    if (Option.isNone(open)) {
      return yield* FiberMap.clear(loops)
    }
    const isNewLogin = !Option.contains(login, open.value.loginCount)
    login = Option.some(open.value.loginCount)
    const onNews = Effect.asVoid(Queue.offer(toAnswer, undefined))
    yield* run("poll", pollLoop(id, { interval: options.pollInterval }, onNews), isNewLogin)
    yield* run("send", messageSender(id, toSend), isNewLogin)
    yield* run("reply", replySender(id, toAnswer), false)
    yield* Queue.offer(toSend, undefined)
    yield* Queue.offer(toAnswer, undefined)
  })

  return { wake } satisfies ChannelActor
})
