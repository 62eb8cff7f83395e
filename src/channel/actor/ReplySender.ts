import { Array, DateTime, Duration, Effect, FiberMap, Option, Queue } from "effect"
import { supervise } from "../../kit/Supervise.ts"
import { AiLogs } from "../../reply/AiLogs.ts"
import { AutoReply } from "../../reply/AutoReply.ts"
import type { ChannelId } from "../domain/Channel.ts"

const lookAgain = Duration.seconds(30)
const chatsAtOnce = 256

/**
 * Answers the messages of one channel: a fiber for each chat where something is due, which ends where the next moment or
 * the channel has the next word. Replies and their due times are rows, so that one that waits costs nothing here, and one
 * that was under way when the program ended goes on where it was. `onQueued` is told when there may be something to send.
 */
export const replySender = Effect.fn("ReplySender")(function* (
  id: ChannelId,
  roused: Queue.Queue<void>,
  onQueued: Effect.Effect<void>
) {
  const logs = yield* AiLogs
  const replies = yield* AutoReply
  const chats = yield* FiberMap.make<string>()

  const answer = (chatId: string) =>
    supervise("ReplySender", replies.advance(id, chatId)).pipe(
      Effect.zipRight(onQueued),
      Effect.zipRight(Queue.offer(roused, undefined))
    )

  const look = Effect.gen(function* () {
    // Whoever roused this one is over by then.
    yield* Effect.yieldNow()
    const busy = Array.fromIterable(chats).map(([chatId]) => chatId)
    const free = chatsAtOnce - busy.length
    const listed = free === 0 ? [] : yield* logs.due(id, free, busy)
    const now = yield* DateTime.now
    const [later, due] = Array.partition(listed, ({ dueAt }) => DateTime.lessThanOrEqualTo(dueAt, now))
    for (const { chatId } of due) {
      yield* FiberMap.run(chats, chatId, answer(chatId), { onlyIfMissing: true })
    }
    const wait = Option.match(Array.head(later), {
      onNone: () => lookAgain,
      onSome: ({ dueAt }) => Duration.min(lookAgain, DateTime.distanceDuration(now, dueAt))
    })
    yield* Effect.timeoutOption(Queue.take(roused), wait)
  })

  return yield* Effect.forever(look)
}, Effect.scoped)
