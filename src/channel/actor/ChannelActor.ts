import { Context, Effect, FiberMap, Option, Queue, Ref } from "effect"
import { supervise } from "../../kit/Supervise.ts"
import { type Outlet, PlatformA, PlatformB, type PushConnection } from "../../platform/Platform.ts"
import { AiLogs } from "../../reply/AiLogs.ts"
import { AutoReply } from "../../reply/AutoReply.ts"
import { ChannelSessions, type OpenChannel } from "../ChannelSessions.ts"
import { ChannelWaker } from "../ChannelWaker.ts"
import type { ChannelId } from "../domain/Channel.ts"
import { LinkedChannels, type LinkedLogin } from "../LinkedChannels.ts"
import { Messages } from "../Messages.ts"
import { SendGate } from "../SendGate.ts"
import { SendQueue } from "../SendQueue.ts"
import { TypingSigns } from "../TypingSigns.ts"
import { messageSender } from "./MessageSender.ts"
import { PollLoop } from "./PollLoop.ts"
import { ReplyCalls } from "./ReplyCalls.ts"
import { replySender } from "./ReplySender.ts"
import { type Live, outletOf, session } from "./Session.ts"

type Loop = "session" | "send" | "reply"
/** What the loops need. */
const needs = [
  ChannelSessions,
  LinkedChannels,
  PlatformA,
  PlatformB,
  Messages,
  SendGate,
  SendQueue,
  TypingSigns,
  AiLogs,
  AutoReply
] as const
type Needs = Context.Tag.Identifier<(typeof needs)[number]>

/** The link of a channel to its phone, and what messages leave through. */
interface Link {
  readonly live: Live
  readonly outlet: Outlet
  loginCount: number | undefined
}

/** What is kept of a channel while it is connected. What only some channels need is there from when it is needed. */
interface Living {
  readonly id: ChannelId
  loginCount: number | undefined
  link: Link | undefined
  toSend: Queue.Queue<void> | undefined
  toAnswer: ReplyCalls | undefined
}

const rouse = (queue: Queue.Queue<void> | undefined) =>
  queue === undefined ? Effect.void : Effect.asVoid(Queue.offer(queue, undefined))

/**
 * The actors of channels, owned by the scope: each has a session of its own or polls, sends and answers, and each of these
 * is supervised by itself: a crash restarts that loop of that channel and nothing else. The send and reply loops begin when
 * there is something to do. A new login replaces the polls, which may be resting on account of the login before.
 */
export const make = Effect.gen(function* () {
  const sessions = yield* ChannelSessions
  const waker = yield* ChannelWaker
  const linked = yield* LinkedChannels
  const polled = yield* PlatformB
  const polls = yield* PollLoop
  /** No more than this: each layer and span that adds to a context holds a copy of it. */
  const context = Context.pick(...needs)(yield* Effect.context<Needs>())
  const logs = yield* AiLogs
  const loops = yield* FiberMap.make<string>()
  const living = new Map<ChannelId, Living>()

  const has = ({ id }: Living, loop: Loop) => FiberMap.has(loops, `${loop} ${id}`)
  const end = ({ id }: Living, loop: Loop) => FiberMap.remove(loops, `${loop} ${id}`)
  /** Around the start, not in the fiber: what stands around a waiting loop is memory of every channel. */
  const run = ({ id }: Living, loop: Loop, effect: Effect.Effect<void, never, Needs>, isNewLogin: boolean) =>
    FiberMap.run(loops, `${loop} ${id}`, supervise(`channel ${loop}`, effect), { onlyIfMissing: !isNewLogin }).pipe(
      Effect.annotateLogs({ channel: id }),
      Effect.withTracerEnabled(false),
      Effect.mapInputContext((_: Context.Context<never>) => context)
    )

  const runSender = (one: Living, isNewLogin: boolean): Effect.Effect<unknown> =>
    run(
      one,
      "send",
      Effect.flatMap(Queue.sliding<void>(1), (roused) => {
        one.toSend = roused
        return messageSender(one.id, roused, one.link?.outlet ?? polled, (chat) => answer(one, chat))
      }),
      isNewLogin
    )
  const send = (one: Living): Effect.Effect<void> =>
    Effect.suspend(() => Effect.zipRight(runSender(one, false), rouse(one.toSend)))

  /**
   * Most channels have nothing to answer for hours: the loop begins with the first message. Without a chat it looks for
   * itself where something is due.
   */
  const answer = (one: Living, chat = Option.none<string>()) => {
    const calls = (one.toAnswer ??= new ReplyCalls())
    return Effect.zipRight(
      run(
        one,
        "reply",
        Effect.suspend(() => replySender(one.id, calls, send(one))),
        false
      ),
      Option.match(chat, { onNone: () => calls.anything, onSome: (id) => calls.chat(id) })
    )
  }

  const linkOf = Effect.fn("ChannelActor.linkOf")(function* (one: Living) {
    if (one.link !== undefined) return one.link
    const live: Live = yield* Ref.make(Option.none<PushConnection>())
    const link: Link = { live, outlet: yield* outletOf(live), loginCount: undefined }
    one.link = link
    return link
  }, Effect.provide(context))

  /** The session of a linked channel lives also while there is nothing to send through: it is what waits for the phone. */
  const keepLinked = Effect.fn("ChannelActor.keepLinked")(function* (one: Living, wanted: LinkedLogin | undefined) {
    if (wanted === undefined) return yield* end(one, "session")
    const link = yield* linkOf(one)
    const isNew = link.loginCount !== wanted.loginCount
    link.loginCount = wanted.loginCount
    const on = { news: answer(one), changed: Effect.suspend(() => waker.wake(one.id)) }
    yield* run(one, "session", session(wanted, link.live, on), isNew)
  })

  const keepSending = Effect.fn("ChannelActor.keepSending")(function* (
    one: Living,
    open: OpenChannel | undefined,
    hasReplies: boolean
  ) {
    if (open === undefined) {
      yield* polls.leave(one.id)
      yield* end(one, "send")
      return yield* end(one, "reply")
    }
    const isNewLogin = one.loginCount !== open.loginCount
    one.loginCount = open.loginCount
    if (open.channel.platform === "platform_b") yield* polls.join(one.id, answer(one), isNewLogin)
    if (open.hasUnsent) yield* runSender(one, isNewLogin)
    yield* rouse(one.toSend)
    if (hasReplies || (yield* has(one, "reply"))) yield* answer(one)
  })

  const born = (id: ChannelId): Living => {
    const one = { id, loginCount: undefined, link: undefined, toSend: undefined, toAnswer: undefined }
    living.set(id, one)
    return one
  }

  /** Looks at channels again: starts, restarts or ends their loops. Nothing is left of one that is not connected. */
  const wake = Effect.fn("ChannelActor.wake")(function* (ids: ReadonlyArray<ChannelId>) {
    const logins = yield* linked.logins(ids)
    const open = yield* sessions.attend(ids)
    const answering = yield* logs.dueAmong([...open.keys()])
    for (const id of ids) {
      const one = living.get(id) ?? born(id)
      yield* keepLinked(one, logins.get(id))
      yield* keepSending(one, open.get(id), answering.has(id))
      const isAlive =
        polls.has(id) || (yield* has(one, "session")) || (yield* has(one, "send")) || (yield* has(one, "reply"))
      if (isAlive) continue
      living.delete(id)
      sessions.unattend(id)
    }
  })

  yield* Effect.addFinalizer(() =>
    Effect.forEach(
      living.keys(),
      (id) =>
        Effect.zipRight(
          polls.leave(id),
          Effect.sync(() => sessions.unattend(id))
        ),
      { discard: true }
    )
  )

  return { wake } as const
})
