import { Array, Effect, FiberMap, Queue } from "effect"
import { supervise } from "../../kit/Supervise.ts"
import { AiLogs } from "../../reply/AiLogs.ts"
import { AutoReply } from "../../reply/AutoReply.ts"
import type { AiLog } from "../../reply/domain/AiLog.ts"
import type { ChannelId } from "../domain/Channel.ts"

const lookAgain = "30 seconds"
const repliesAtOnce = 64

/**
 * Answers the messages of one channel: one fiber for each chat with open replies, which takes them in the order of their
 * messages. Replies are rows, so one that was under way when the program ended goes on where it was.
 */
export const replySender = Effect.fn("ReplySender")(function* (id: ChannelId, roused: Queue.Queue<void>) {
  const logs = yield* AiLogs
  const replies = yield* AutoReply
  const chats = yield* FiberMap.make<string>()
  const lanes = yield* Effect.makeSemaphore(repliesAtOnce)

  /** What came in meanwhile is found by the next look. */
  const answer = (open: ReadonlyArray<AiLog>) =>
    Effect.forEach(open, (log) => lanes.withPermits(1)(replies.advance(log.id)), { discard: true }).pipe(
      Effect.zipRight(Queue.offer(roused, undefined))
    )

  const look = Effect.gen(function* () {
    const byChat = Array.groupBy(yield* logs.open(id), ({ chatId }) => chatId)
    yield* Effect.forEach(
      Object.entries(byChat),
      ([chatId, open]) => FiberMap.run(chats, chatId, supervise("ReplySender", answer(open)), { onlyIfMissing: true }),
      { discard: true }
    )
    yield* Effect.timeoutOption(Queue.take(roused), lookAgain)
  })

  return yield* Effect.forever(look)
}, Effect.scoped)
