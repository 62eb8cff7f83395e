import { Array, Effect, FiberMap, Queue } from "effect"
import { AiLogs } from "../../reply/AiLogs.ts"
import { AutoReply } from "../../reply/AutoReply.ts"
import type { ChannelId } from "../domain/Channel.ts"

const chatsAtOnce = 16
const lookAgain = "5 seconds"

/**
 * Answers what waits for an answer: one reply at a time in each chat, in the order of the messages, several chats side by
 * side. The rows are the queue; a reply that crashed is found again and goes on.
 */
export const replySender = Effect.fn("ReplySender")(function* (id: ChannelId, wake: Queue.Dequeue<void>) {
  const logs = yield* AiLogs
  const replies = yield* AutoReply
  const chats = yield* FiberMap.make<string>()
  const lanes = yield* Effect.makeSemaphore(chatsAtOnce)

  const answer = (chatId: string, ids: ReadonlyArray<string>) =>
    FiberMap.run(
      chats,
      chatId,
      lanes
        .withPermits(1)(Effect.forEach(ids, replies.advance, { discard: true }))
        .pipe(Effect.tapErrorCause((cause) => Effect.logWarning("a reply crashed and will be tried again", cause))),
      { onlyIfMissing: true }
    )

  const turn = Effect.gen(function* () {
    const open = yield* logs.open(id)
    const byChat = Object.entries(Array.groupBy(open, ({ chatId }) => chatId))
    yield* Effect.forEach(
      byChat,
      ([chatId, of]) =>
        answer(
          chatId,
          of.map((log) => log.id)
        ),
      { discard: true }
    )
    yield* Effect.timeoutOption(Queue.take(wake), lookAgain)
  })

  return yield* Effect.forever(turn)
}, Effect.scoped)
