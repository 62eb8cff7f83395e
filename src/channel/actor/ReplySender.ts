import { Array, Clock, DateTime, Duration, Effect, FiberHandle, FiberMap, Option, Random } from "effect"
import { afterCrash, survived } from "../../kit/Supervise.ts"
import { AiLogs } from "../../reply/AiLogs.ts"
import { AutoReply } from "../../reply/AutoReply.ts"
import type { Next } from "../../reply/domain/Next.ts"
import type { ChannelId } from "../domain/Channel.ts"
import type { ReplyCalls } from "./ReplyCalls.ts"

const lookAgain = Duration.toMillis("30 seconds")
const chatsAtOnce = 256

/**
 * Answers the messages of one channel: a fiber for each chat where something is due, which ends where the next moment or
 * the channel has the next word. Replies and their due times are rows, so that one that waits costs nothing here, and one
 * that was under way when the program ended goes on where it was. A call names the chat where that is known; else, and
 * when a moment has come, the rows say which. `onQueued` is told when there may be something to send.
 */
export const replySender = Effect.fn("ReplySender")(function* (
  id: ChannelId,
  calls: ReplyCalls,
  onQueued: Effect.Effect<void>
) {
  const logs = yield* AiLogs
  const replies = yield* AutoReply
  const chats = yield* FiberMap.make<string>()
  /** Chats that were called for while they were under way: what they have read may be older than the call. */
  const passedOver = new Set<string>()
  const alarm = yield* FiberHandle.make()
  let isFull = false
  /** When to look at the rows, in milliseconds. */
  let looksAt = 0

  const lookAt = (moment: number, now: number) =>
    Effect.suspend(() => {
      looksAt = moment
      return FiberHandle.run(alarm, Effect.delay(calls.anything, Duration.millis(moment - now)))
    })

  const goesOn = Effect.fnUntraced(function* (chatId: string, next: Next) {
    const wasPassedOver = passedOver.delete(chatId)
    if (next._tag !== "At") return wasPassedOver ? yield* calls.chat(chatId) : undefined
    const now = yield* Clock.currentTimeMillis
    const at = DateTime.toEpochMillis(next.moment)
    if (at <= now) return yield* calls.chat(chatId)
    if (at < looksAt) yield* lookAt(at, now)
  })

  const advanced = (chatId: string, crashes: number): Effect.Effect<Next> =>
    Effect.flatMap(survived("ReplySender", replies.advance(id, chatId)), (next) =>
      Option.isSome(next)
        ? Effect.succeed(next.value)
        : Effect.flatMap(Random.next, (chance) =>
            Effect.delay(advanced(chatId, crashes + 1), afterCrash(crashes + 1, chance))
          )
    )

  const answer = (chatId: string) =>
    Effect.flatMap(advanced(chatId, 0), (next) => goesOn(chatId, next)).pipe(
      Effect.zipRight(onQueued),
      Effect.zipRight(Effect.suspend(() => (isFull ? calls.anything : Effect.void)))
    )

  const begin = Effect.fnUntraced(function* (chatId: string) {
    if (yield* FiberMap.has(chats, chatId)) passedOver.add(chatId)
    else if ((yield* FiberMap.size(chats)) >= chatsAtOnce) isFull = true
    else yield* FiberMap.run(chats, chatId, answer(chatId))
  })

  const look = Effect.gen(function* () {
    const now = yield* DateTime.now
    const busy = Array.fromIterable(chats).map(([chatId]) => chatId)
    busy.forEach((chatId) => passedOver.add(chatId))
    const free = chatsAtOnce - busy.length
    isFull = free === 0
    const listed = isFull ? [] : yield* logs.due(id, free, busy)
    const [later, due] = Array.partition(listed, ({ dueAt }) => DateTime.lessThanOrEqualTo(dueAt, now))
    isFull ||= due.length === free
    const moments = [
      DateTime.toEpochMillis(now) + lookAgain,
      ...later.map(({ dueAt }) => DateTime.toEpochMillis(dueAt))
    ]
    yield* lookAt(Math.min(...moments), DateTime.toEpochMillis(now))
    yield* Effect.forEach(due, ({ chatId }) => begin(chatId), { discard: true })
  })

  const turn = Effect.gen(function* () {
    // Whoever called is over by then.
    yield* Effect.yieldNow()
    const { chats: called, isForAll } = calls.take()
    yield* Effect.forEach(called, begin, { discard: true })
    if (isForAll) yield* look
    yield* calls.heard
  })

  yield* onQueued
  yield* calls.anything
  return yield* Effect.forever(turn)
}, Effect.scoped)
