import { Clock, Context, Duration, Effect, FiberMap, Layer, Option, Queue, Random } from "effect"
import { afterCrash, supervise, survived } from "../../kit/Supervise.ts"
import { ChannelSessions } from "../ChannelSessions.ts"
import type { ChannelId } from "../domain/Channel.ts"
import { DueHeap } from "../domain/DueHeap.ts"
import { type Polled, pollTurns } from "./PollTurn.ts"

/** How many polls may be under way: a platform that hangs holds no more than these, other channels wait until one is over. */
const mostAtOnce = 512
/** Milliseconds: moments that lie closer together are one, and the longest wait for room when nobody makes some. */
const grain = 20
const patience = 1_000

interface Member extends Polled {
  crashes: number
}

/**
 * Polls all channels of this process that are connected: each about every `interval`, from a phase of its own, so that they
 * do not poll in step. Between its polls a channel is a record here, neither a fiber nor a timer. A poll that crashes is
 * logged, counted and followed by a pause (as `supervise` would) of that channel and of no other.
 *
 * - `join`: at once when the baseline is to be set, else within an interval. Who has joined already stays as he is, unless
 *   the login is a new one: then a poll of the earlier login that is under way is given up, and so is its rest.
 * - `leave`: no poll of the channel is under way afterwards, and none will be.
 */
export class PollLoop extends Context.Tag("gatehouse/channel/PollLoop")<
  PollLoop,
  {
    readonly join: (id: ChannelId, onNews: Effect.Effect<void>, isNewLogin: boolean) => Effect.Effect<void>
    readonly leave: (id: ChannelId) => Effect.Effect<void>
    readonly has: (id: ChannelId) => boolean
  }
>() {
  static readonly layer = (options: { readonly interval: Duration.Duration; readonly atOnce?: number }) =>
    Layer.scoped(
      PollLoop,
      Effect.gen(function* () {
        const sessions = yield* ChannelSessions
        const { atOnce = mostAtOnce } = options
        const turn = yield* pollTurns(options)
        const members = new Map<ChannelId, Member>()
        const waiting = new DueHeap<Member>()
        const underWay = yield* FiberMap.make<ChannelId>()
        const sooner = yield* Queue.sliding<void>(1)
        let wakesAt = Infinity
        let isFull = false

        const isMember = (member: Member) => members.get(member.id) === member

        const wait = (member: Member, pause: Duration.Duration) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) => {
            member.dueAt = now + Duration.toMillis(pause)
            waiting.add(member.dueAt, member)
            return member.dueAt < wakesAt ? Queue.offer(sooner, undefined) : Effect.void
          })

        const poll = (member: Member) =>
          Effect.gen(function* () {
            const survivor = yield* survived("channel poll", turn(member))
            if (!isMember(member)) return
            member.crashes = Option.isSome(survivor) ? 0 : member.crashes + 1
            const pause = Option.isSome(survivor)
              ? survivor.value
              : Option.some(afterCrash(member.crashes, yield* Random.next))
            if (Option.isSome(pause)) return yield* wait(member, pause.value)
            members.delete(member.id)
          }).pipe(
            Effect.annotateLogs({ channel: member.id }),
            Effect.ensuring(Effect.suspend(() => (isFull ? Queue.offer(sooner, undefined) : Effect.void)))
          )

        /** How long until the next is due. */
        const beginDue = Effect.gen(function* () {
          const now = yield* Clock.currentTimeMillis
          isFull = false
          while ((yield* FiberMap.size(underWay)) < atOnce) {
            const member = waiting.take(now)
            if (member === undefined) return waiting.next - now
            if (isMember(member)) yield* FiberMap.run(underWay, member.id, poll(member))
          }
          isFull = true
          return patience
        })

        const round = Effect.gen(function* () {
          const pause = Math.max(grain, yield* beginDue)
          wakesAt = (yield* Clock.currentTimeMillis) + pause
          yield* Number.isFinite(pause)
            ? Effect.timeoutOption(Queue.take(sooner), Duration.millis(pause))
            : Queue.take(sooner)
        })
        const rounds = Effect.withTracerEnabled(supervise("PollLoop", Effect.forever(round)), false)
        yield* Effect.forkScoped(Effect.mapInputContext(rounds, (_: Context.Context<never>) => Context.empty()))

        const leave = (id: ChannelId) =>
          Effect.suspend(() => {
            members.delete(id)
            return FiberMap.remove(underWay, id)
          })

        const join = Effect.fn("PollLoop.join")(function* (
          id: ChannelId,
          onNews: Effect.Effect<void>,
          isNewLogin: boolean
        ) {
          if (members.has(id) && !isNewLogin) return
          yield* leave(id)
          const member = { id, onNews, dueAt: undefined, outages: 0, crashes: 0 }
          members.set(id, member)
          const isFirst = Option.exists(yield* sessions.open(id), ({ cursor }) => Option.isNone(cursor))
          yield* wait(member, isFirst ? Duration.zero : Duration.times(options.interval, yield* Random.next))
        })

        return PollLoop.of({ join, leave, has: (id) => members.has(id) })
      })
    )
}
