import { DateTime, Deferred, Effect, Either, Exit, Option, Schema } from "effect"
import type { WASocket } from "baileys"
import { recipient } from "../domain/Recipient.ts"
import { isTooLong } from "../domain/TextLimit.ts"
import { PlatformFailure } from "../Platform.ts"
import { isGroup, sentId } from "./Addresses.ts"

const ackPatience = "15 seconds"

export const failure = (reason: PlatformFailure["reason"], detail: string) =>
  new PlatformFailure({ reason, detail, retryAfter: Option.none() })

/** What a refusal of a message means: a lock on new chats, or a message that will never be accepted. */
const refusal = (code: string) =>
  code === "463"
    ? failure("action_blocked", "the platform lets this account open no new chats for now")
    : failure("not_found", `the platform refused the message (${code})`)

const Ack = Schema.decodeUnknownOption(
  Schema.Struct({ attrs: Schema.Struct({ id: Schema.String, error: Schema.optional(Schema.String) }) })
)

export const asked = <A>(call: () => Promise<A>) =>
  Effect.tryPromise({ try: call, catch: () => failure("unavailable", "the platform did not answer") })

/** What leaves through a socket. A message counts as sent when the platform has acknowledged it, not when it was written. */
export const makeOutgoing = (socket: WASocket) => {
  const unanswered = new Map<string, Deferred.Deferred<void, PlatformFailure>>()
  const reachable = new Set<string>()
  let isClosed = false

  socket.ws.on("CB:ack,class:message", (node: unknown) => {
    const ack = Option.getOrUndefined(Ack(node))
    const answer = ack === undefined ? undefined : unanswered.get(ack.attrs.id)
    if (ack === undefined || answer === undefined) return
    unanswered.delete(ack.attrs.id)
    Deferred.unsafeDone(answer, ack.attrs.error === undefined ? Exit.void : Exit.fail(refusal(ack.attrs.error)))
  })

  /** Messages to numbers that nobody has are what gets accounts restricted. */
  const mustExist = Effect.fn("PlatformA.mustExist")(function* (address: string) {
    if (isGroup(address) || address.endsWith("@lid") || reachable.has(address)) return
    const found = yield* asked(() => socket.onWhatsApp(address))
    if (found?.some(({ exists }) => exists) !== true) {
      return yield* failure("unknown_user", "nobody on the platform has this number")
    }
    reachable.add(address)
  })

  const send = Effect.fn("PlatformA.send")(function* (message: {
    readonly to: string
    readonly body: string
    readonly clientId: string
  }) {
    if (isClosed) return yield* failure("unavailable", "the connection ended")
    const address = recipient("platform_a", message.to)
    if (Either.isLeft(address)) return yield* failure("unknown_user", "no address of the platform")
    if (isTooLong(message)) return yield* failure("text_too_long", "longer than the platform takes")
    const chatId = address.right
    yield* mustExist(chatId)
    const platformMessageId = sentId(message.clientId)
    const answer = yield* Deferred.make<void, PlatformFailure>()
    unanswered.set(platformMessageId, answer)
    yield* asked(() => socket.sendMessage(chatId, { text: message.body }, { messageId: platformMessageId })).pipe(
      Effect.zipRight(Deferred.await(answer)),
      Effect.timeoutFail({
        duration: ackPatience,
        onTimeout: () => failure("unavailable", "the platform has not said that it has the message")
      }),
      Effect.ensuring(Effect.sync(() => unanswered.delete(platformMessageId)))
    )
    return { chatId, platformMessageId, timestamp: yield* DateTime.now }
  })

  const typing = (chatId: string, isTyping: boolean) =>
    Effect.asVoid(asked(() => socket.sendPresenceUpdate(isTyping ? "composing" : "paused", chatId)))

  return {
    send,
    typing,
    /** Whoever wrote to us is there. */
    heardFrom: (chatId: string) => void reachable.add(chatId),
    close: () => {
      isClosed = true
      for (const answer of unanswered.values()) {
        Deferred.unsafeDone(answer, Exit.fail(failure("unavailable", "the connection ended")))
      }
    }
  } as const
}
