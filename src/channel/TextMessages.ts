import { Context, Data, Effect, Either, Layer, Option } from "effect"
import { idOfRequest } from "../kit/Idempotency.ts"
import { recipient } from "../platform/domain/Recipient.ts"
import { isTooLong, longestText } from "../platform/domain/TextLimit.ts"
import { ChannelWaker } from "./ChannelWaker.ts"
import type { Channel } from "./domain/Channel.ts"
import { type Message, MessageId } from "./domain/Message.ts"
import { Messages } from "./Messages.ts"
import { SendWatch } from "./SendWatch.ts"

export class NotConnected extends Data.TaggedError("NotConnected")<{}> {}
/** `to` is no address of the channel's platform. */
export class RecipientWrong extends Data.TaggedError("RecipientWrong")<{ readonly reason: string }> {}
/** The platform takes no text of that length in one message. */
export class TextTooLong extends Data.TaggedError("TextTooLong")<{ readonly longest: number }> {}
/** The platform refused the message for good. */
export class MessageRefused extends Data.TaggedError("MessageRefused")<{ readonly reason: string }> {}

const patience = "10 seconds"
const unknownRecipient = "unknown_user"

/** Texts that callers send: stored before they are tried, sent in order within their chat (contract, part 4). */
export class TextMessages extends Context.Tag("gatehouse/channel/TextMessages")<
  TextMessages,
  {
    /** Stores a text under the id of the request and waits for its outcome. */
    readonly send: (
      channel: Channel,
      to: string,
      body: string
    ) => Effect.Effect<Message, NotConnected | RecipientWrong | TextTooLong | MessageRefused>
    /** A queued message as it stands once it is settled, or patience (10 s) has ended. */
    readonly outcome: (queued: Message) => Effect.Effect<Message, RecipientWrong | MessageRefused>
  }
>() {
  static readonly layer = Layer.effect(
    TextMessages,
    Effect.gen(function* () {
      const messages = yield* Messages
      const waker = yield* ChannelWaker
      const watch = yield* SendWatch

      const outcome = Effect.fn("TextMessages.outcome")(function* (queued: Message) {
        yield* waker.wake(queued.channelId)
        const stored = yield* watch.settled(queued.id, patience)
        const message = Option.getOrElse(stored, () => queued)
        if (message.status !== "failed") return message
        const reason = Option.getOrElse(message.error, () => "refused")
        return yield* reason === unknownRecipient
          ? new RecipientWrong({ reason: "names nobody on the platform" })
          : new MessageRefused({ reason })
      })

      const send = Effect.fn("TextMessages.send")(function* (channel: Channel, to: string, body: string) {
        if (channel.status !== "connected") return yield* new NotConnected()
        const address = recipient(channel.platform, to)
        if (Either.isLeft(address)) return yield* new RecipientWrong({ reason: address.left })
        if (isTooLong({ to: address.right, body })) {
          return yield* new TextTooLong({ longest: longestText(address.right) })
        }
        const id = MessageId.make(yield* idOfRequest)
        return yield* outcome(
          yield* messages.queue({ id, channelId: channel.id, to: address.right, body, source: "api" })
        )
      })

      return TextMessages.of({ send, outcome })
    })
  )
}
