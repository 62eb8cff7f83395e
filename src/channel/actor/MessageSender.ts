import { DateTime, Duration, Effect, Either, Option, Queue, Random } from "effect"
import type { Outlet, PlatformFailure } from "../../platform/Platform.ts"
import { ChannelSessions, type OpenChannel } from "../ChannelSessions.ts"
import type { ChannelId } from "../domain/Channel.ts"
import type { Message } from "../domain/Message.ts"
import { afterOutage } from "../domain/Pace.ts"
import { isAhead, isUnbounded, latestOf, opening, slotOf } from "../domain/Pacing.ts"
import { Messages } from "../Messages.ts"
import { SendGate } from "../SendGate.ts"
import { SendQueue, type Unsent } from "../SendQueue.ts"
import { whileSending } from "../Trouble.ts"

/**
 * Sends what is queued for one channel, oldest first and one at a time, for as long as the channel is connected (contract,
 * part 4: at most once per stored row, also across a crash). A message is marked `sending` before the platform is asked;
 * one whose answer nobody heard is looked up by the id that it was given and sent again only when it is not there.
 * Between sends lies the gap of the channel's pacing; what a cap or a freeze forbids stays queued with `not_before`.
 * `onEnded` is told when a reply has ended and another may be due: the chat where that is known.
 */
export const messageSender = Effect.fn("MessageSender")(function* (
  id: ChannelId,
  roused: Queue.Dequeue<void>,
  outlet: Outlet,
  onEnded: (chat: Option.Option<string>) => Effect.Effect<unknown>
) {
  const sessions = yield* ChannelSessions
  const messages = yield* Messages
  const queue = yield* SendQueue
  const gate = yield* SendGate
  let outages = 0

  const until = (moment: Option.Option<DateTime.Utc>) =>
    Effect.map(DateTime.now, (now) =>
      Option.match(moment, { onNone: () => Duration.zero, onSome: (at) => DateTime.distanceDuration(now, at) })
    )

  const settled = Effect.flatMap((ended: Option.Option<string>) =>
    Option.isSome(ended) ? Effect.asVoid(onEnded(ended)) : Effect.void
  )

  const afterFailure = Effect.fn("MessageSender.afterFailure")(function* (
    open: OpenChannel,
    message: Message,
    failure: PlatformFailure,
    isRefused: boolean
  ) {
    const reaction = whileSending(failure)
    yield* Effect.logInfo("a message could not be sent").pipe(
      Effect.annotateLogs({ message: message.id, reason: failure.reason, detail: failure.detail })
    )
    if (isRefused && reaction === "refuse") return yield* settled(messages.failed(message, failure.reason))
    if (reaction === "wait" || reaction === "refuse") {
      outages += 1
      return yield* Effect.sleep(afterOutage(outages, yield* Random.next))
    }
    if (isRefused) yield* queue.putBack(message)
    if (reaction === "rest") return yield* sessions.rest(open, failure, "all")
    if (reaction === "freeze") return yield* sessions.rest(open, failure, "sending")
    return yield* sessions.lost(open, failure, reaction === "end" ? "error" : "challenge_required")
  })

  /** An earlier send of the same message that the platform has, when there may have been one. */
  const earlier = (open: OpenChannel, { chatId, id, status }: Message) =>
    status === "sending"
      ? outlet.findSent(open.session, { chatId, clientId: id }).pipe(
          Effect.catchIf(
            ({ reason }) => reason === "not_found",
            () => Effect.succeedNone
          )
        )
      : Effect.succeedNone

  const defer = (message: Message, moment: Option.Option<DateTime.Utc>, what: "one" | "all") =>
    Option.match(moment, { onNone: () => Effect.void, onSome: (at) => queue.defer(message, at, what) })

  /** One that is `sending` keeps its place, and is looked up again when there may be something new. */
  const held = Effect.fnUntraced(function* (
    message: Message,
    moment: Option.Option<DateTime.Utc>,
    what: "one" | "all"
  ) {
    yield* defer(message, moment, what)
    if (message.status === "sending") yield* Effect.timeoutOption(Queue.take(roused), yield* until(moment))
  })

  /** True when the pacing lets it be sent now; else it waits where it is. */
  const isItsTurn = Effect.fnUntraced(function* (open: OpenChannel, { message, opensChat }: Unsent) {
    const pacing = open.channel.paces
    if (isUnbounded(pacing)) return true
    const slot = slotOf(pacing, yield* queue.marks(message, pacing), opensChat, yield* Random.next)
    const now = yield* DateTime.now
    if (!isAhead(opening(slot), now)) return true
    if (isAhead(slot.underCaps, now)) {
      yield* held(message, slot.underCaps, "all")
    } else if (isAhead(slot.underNewChats, now)) {
      yield* held(message, slot.underNewChats, "one")
    } else {
      yield* Effect.sleep(yield* until(slot.afterGap))
    }
    return false
  })

  const send = Effect.fnUntraced(function* (open: OpenChannel, unsent: Unsent) {
    const { message } = unsent
    const found = yield* Effect.either(earlier(open, message))
    if (Either.isLeft(found)) return yield* afterFailure(open, message, found.left, false)
    if (Option.isSome(found.right)) return yield* settled(messages.sent(message, found.right.value))
    if (!(yield* isItsTurn(open, unsent))) return
    if (!(yield* gate.begin(unsent, yield* DateTime.now))) return yield* onEnded(Option.none())
    const sent = yield* Effect.either(
      outlet.send(open.session, { to: message.chatId, body: message.body, clientId: message.id })
    )
    if (Either.isLeft(sent)) return yield* afterFailure(open, message, sent.left, true)
    outages = 0
    yield* settled(messages.sent(message, sent.right))
  })

  /** Nothing may be tried: until the first moment that something waits for, or until there is something new. */
  const idle = Effect.fnUntraced(function* (now: DateTime.Utc) {
    const moment = yield* queue.nextMoment(id, now)
    const news = Queue.take(roused)
    if (Option.isNone(moment)) return yield* news
    yield* Effect.timeoutOption(news, yield* until(moment))
  })

  /** False when the channel is no longer connected. */
  const turn = Effect.gen(function* () {
    const opened = yield* sessions.open(id)
    if (Option.isNone(opened)) return false
    const now = yield* DateTime.now
    const next = yield* queue.next(id, now)
    if (Option.isNone(next)) return yield* Effect.as(idle(now), true)
    const { frozenUntil, pausedUntil } = opened.value.channel
    const restsUntil = latestOf([frozenUntil, pausedUntil])
    if (isAhead(restsUntil, now)) {
      yield* defer(next.value.message, restsUntil, "all")
      if (next.value.message.status === "queued") return true
      yield* Effect.sleep(yield* until(restsUntil))
      return true
    }
    yield* send(opened.value, next.value)
    return true
  }).pipe(Effect.withSpan("MessageSender.turn", { root: true, attributes: { channel: id } }))

  const turns: typeof turn = Effect.flatMap(turn, (isConnected) => (isConnected ? turns : Effect.succeed(false)))
  return yield* turns
})
