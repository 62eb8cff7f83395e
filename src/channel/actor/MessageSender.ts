import { DateTime, Duration, Effect, Either, Option, Order, Queue } from "effect"
import { PlatformB, type PlatformFailure } from "../../platform/Platform.ts"
import { ChannelSessions, type OpenChannel } from "../ChannelSessions.ts"
import type { ChannelId } from "../domain/Channel.ts"
import type { Message } from "../domain/Message.ts"
import { afterOutage } from "../domain/Pace.ts"
import { Messages } from "../Messages.ts"
import { SendQueue } from "../SendQueue.ts"
import { whileSending } from "../Trouble.ts"

const lookAgain = "30 seconds"
const latest = Option.getOrder(DateTime.Order)

/**
 * Sends what is queued for one channel, oldest first and one at a time, for as long as the channel is connected (contract,
 * part 4: at most once per stored row, also across a crash). A message is marked `sending` before the platform is asked;
 * one whose answer nobody heard is looked up by the id that it was given and sent again only when it is not there.
 */
export const messageSender = Effect.fn("MessageSender")(function* (id: ChannelId, roused: Queue.Dequeue<void>) {
  const sessions = yield* ChannelSessions
  const platform = yield* PlatformB
  const messages = yield* Messages
  const queue = yield* SendQueue
  let outages = 0

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
    if (isRefused && reaction === "refuse") return yield* messages.failed(message, failure.reason)
    if (reaction === "wait" || reaction === "refuse") {
      outages += 1
      return yield* Effect.sleep(afterOutage(outages))
    }
    if (isRefused) yield* queue.putBack(message)
    if (reaction === "rest") return yield* sessions.rest(open, failure, "all")
    if (reaction === "freeze") return yield* sessions.rest(open, failure, "sending")
    return yield* sessions.lost(open, failure, reaction === "end" ? "error" : "challenge_required")
  })

  /** An earlier send of the same message that the platform has, when there may have been one. */
  const earlier = (open: OpenChannel, { chatId, id, status }: Message) =>
    status === "sending"
      ? platform.findSent(open.session, { chatId, clientId: id }).pipe(
          Effect.catchIf(
            ({ reason }) => reason === "not_found",
            () => Effect.succeedNone
          )
        )
      : Effect.succeedNone

  const send = Effect.fn("MessageSender.send")(function* (open: OpenChannel, message: Message) {
    const found = yield* Effect.either(earlier(open, message))
    if (Either.isLeft(found)) return yield* afterFailure(open, message, found.left, false)
    if (Option.isSome(found.right)) return yield* messages.sent(message, found.right.value)
    yield* queue.begin(message)
    const sent = yield* Effect.either(
      platform.send(open.session, { to: message.chatId, body: message.body, clientId: message.id })
    )
    if (Either.isLeft(sent)) return yield* afterFailure(open, message, sent.left, true)
    outages = 0
    yield* messages.sent(message, sent.right)
  })

  /** False when the channel is no longer connected. */
  const turn = Effect.gen(function* () {
    const opened = yield* sessions.open(id)
    if (Option.isNone(opened)) return false
    const next = yield* queue.next(id)
    if (Option.isNone(next)) {
      yield* Effect.timeoutOption(Queue.take(roused), lookAgain)
      return true
    }
    const now = yield* DateTime.now
    const { frozenUntil, pausedUntil } = opened.value
    const restsUntil = Order.max(latest)(frozenUntil, pausedUntil)
    if (Option.exists(restsUntil, DateTime.greaterThan(now))) {
      yield* Effect.sleep(
        Option.match(restsUntil, {
          onNone: () => Duration.zero,
          onSome: (until) => DateTime.distanceDuration(now, until)
        })
      )
      return true
    }
    yield* send(opened.value, next.value)
    return true
  }).pipe(Effect.withSpan("MessageSender.turn", { root: true, attributes: { channel: id } }))

  yield* Effect.repeat(turn, { while: (isConnected) => isConnected })
})
