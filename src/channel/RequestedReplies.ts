import { Array, Context, Effect, Layer, Option, Order } from "effect"
import { idAfter } from "../kit/Id.ts"
import { idOfRequest } from "../kit/Idempotency.ts"
import { longestText } from "../platform/domain/TextLimit.ts"
import { splitReply } from "../reply/domain/LongReply.ts"
import { Outbox } from "../webhook/Outbox.ts"
import type { Channel } from "./domain/Channel.ts"
import { type Message, MessageId } from "./domain/Message.ts"
import { MessageRepo } from "./MessageRepo.ts"
import { Messages } from "./Messages.ts"
import { type MessageRefused, type RecipientWrong, TextMessages } from "./TextMessages.ts"

/** More than any model says at once. */
const partsAtMost = 256

/**
 * Replies that a caller has sent to a chat. All messages of one are stored together, under the id of the request and those
 * that follow it: a request that is repeated after a crash finds them, and nothing is sent twice.
 */
export class RequestedReplies extends Context.Tag("gatehouse/channel/RequestedReplies")<
  RequestedReplies,
  {
    /** What an earlier try of the request under way stored, in order; the first of it is settled or sent soon. */
    readonly ofRequest: Effect.Effect<ReadonlyArray<Message>>
    /** The first of its messages as it stands; none of a blank reply. */
    readonly send: (
      channel: Channel,
      chatId: string,
      reply: string
    ) => Effect.Effect<Option.Option<Message>, RecipientWrong | MessageRefused>
  }
>() {
  static readonly layer = Layer.effect(
    RequestedReplies,
    Effect.gen(function* () {
      const repo = yield* MessageRepo
      const messages = yield* Messages
      const texts = yield* TextMessages
      const outbox = yield* Outbox

      const ofRequest = Effect.gen(function* () {
        const requestId = yield* idOfRequest
        const ids = Array.makeBy(partsAtMost, (nth) => idAfter(requestId, nth))
        const found = yield* repo.byIds(ids)
        return Array.sortBy(Order.mapInput(Order.string, ({ id }: Message) => id))(found)
      }).pipe(Effect.withSpan("RequestedReplies.ofRequest"))

      const send = Effect.fn("RequestedReplies.send")(function* (channel: Channel, chatId: string, reply: string) {
        const requestId = yield* idOfRequest
        const parts = splitReply(reply, longestText(chatId)).slice(0, partsAtMost)
        const queued = messages.queueAll(
          parts.map((body, nth) => ({
            id: MessageId.make(idAfter(requestId, nth)),
            channelId: channel.id,
            to: chatId,
            body,
            source: "ai" as const
          }))
        )
        const stored = yield* Effect.orDie(outbox.transaction(queued))
        return yield* Effect.transposeMapOption(Array.head(stored), texts.outcome)
      })

      return RequestedReplies.of({ ofRequest, send })
    })
  )
}
