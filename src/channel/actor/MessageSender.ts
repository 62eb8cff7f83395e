import { Duration, Effect, Option, Queue, Ref } from "effect"
import { PlatformB, type PlatformFailure } from "../../platform/Platform.ts"
import type { ChannelId } from "../domain/Channel.ts"
import type { Message } from "../domain/Message.ts"
import { afterOutage, afterRateLimit } from "../domain/Pace.ts"
import { LiveSession, type Live } from "../LiveSession.ts"
import { Unsent } from "../Unsent.ts"
import { Messages } from "../Messages.ts"

const lookAgain = "30 seconds"

const isFinal = ({ reason }: PlatformFailure) => reason === "unknown_user" || reason === "not_found"
const isFrozen = ({ reason }: PlatformFailure) => reason === "rate_limited" || reason === "action_blocked"

/**
 * Sends a channel's queued messages one after the other, until its connection ends. A message is marked before it is
 * tried; one that was already marked is looked for on the platform by its client id first, so that a crash between the
 * platform's yes and our note of it sends nothing twice.
 */
export const messageSender = Effect.fn("MessageSender")(function* (id: ChannelId, wake: Queue.Dequeue<void>) {
  const platform = yield* PlatformB
  const sessions = yield* LiveSession
  const messages = yield* Messages
  const unsent = yield* Unsent
  const troubles = yield* Ref.make(0)

  const deliver = Effect.fn("MessageSender.deliver")(function* ({ session }: Live, message: Message) {
    const known =
      message.status === "sending"
        ? yield* platform.findSent(session, { chatId: message.chatId, clientId: message.id })
        : Option.none()
    if (Option.isSome(known)) return yield* messages.sent(message, known.value)
    if (message.status === "queued") yield* unsent.mark(message)
    const sent = yield* platform.send(session, { to: message.chatId, body: message.body, clientId: message.id })
    yield* messages.sent(message, sent)
  })

  const pauseAfter = Effect.fn("MessageSender.pauseAfter")(function* (failure: PlatformFailure) {
    const times = yield* Ref.updateAndGet(troubles, (count) => count + 1)
    yield* Effect.logWarning("a message could not be sent").pipe(
      Effect.annotateLogs({ channel: id, reason: failure.reason })
    )
    yield* Effect.sleep(
      isFrozen(failure) ? afterRateLimit(times, failure.retryAfter) : Duration.min(afterOutage(times), "1 minute")
    )
    return true
  })

  const turn = Effect.gen(function* () {
    const live = yield* sessions.open(id)
    if (Option.isNone(live)) return false
    const message = yield* unsent.next(id)
    if (Option.isNone(message)) {
      yield* Effect.timeoutOption(Queue.take(wake), lookAgain)
      return true
    }
    return yield* deliver(live.value, message.value).pipe(
      Effect.zipRight(Ref.set(troubles, 0)),
      Effect.as(true),
      Effect.catchTag("PlatformFailure", (failure) =>
        Effect.gen(function* () {
          if (isFinal(failure)) return yield* Effect.as(messages.failed(message.value, failure.reason), true)
          if (yield* sessions.endedBy(id, failure)) return false
          return yield* pauseAfter(failure)
        })
      )
    )
  })

  return yield* Effect.repeat(turn, { while: (goesOn) => goesOn })
})
