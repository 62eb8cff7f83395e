import { Chunk, Clock, DateTime, Duration, Effect, FiberSet, Option, Queue, type Scope } from "effect"
import { Dispatch, type OpenEndpoint } from "../Dispatch.ts"
import type { DueDelivery, Settlement } from "../domain/Delivery.ts"
import type { EndpointId } from "../domain/Webhook.ts"

const sentAtOnce = 32
const mostAhead = 512
const settledAtOnce = 256

/** Between two turns: what comes within it is read, or written back, together. */
const gathering = Duration.millis(5)
/** A row that is due and that nobody could take is not asked for more often than this. */
const shortestRest = Duration.millis(100)

const isQuick = (millis: number) => millis < 1_000
const isSlow = (millis: number) => millis > 5_000

/**
 * Sends what is due for one endpoint, for ever: takes a bounded number of rows, attempts some of them at once, writes
 * outcomes back in batches and sleeps until the next row is due or a wake-up says that something changed. Due times are
 * rows, so a crash at any point only repeats attempts. An interrupted loop finishes the attempts under way, at most the
 * endpoint's time-out, and gives back the rest. `wakeUps` is heard as long as its scope lasts.
 */
export const deliveryLoop = Effect.fn("DeliveryLoop")(function* (
  id: EndpointId,
  wakeUps: Effect.Effect<Queue.Queue<void>, never, Scope.Scope>
) {
  const dispatch = yield* Dispatch
  const outcomes = yield* Queue.bounded<Settlement>(mostAhead)
  let target = Option.none<OpenEndpoint>()
  const waiting: Array<DueDelivery> = []
  let lanes = 0
  let inFlight = 0
  let ahead = sentAtOnce
  let claimedAt = 0
  let isWaitingForRoom = false

  const hasRoom = () => ahead - inFlight >= ahead / 2

  yield* dispatch.release(id)
  yield* Effect.addFinalizer(() =>
    Effect.gen(function* () {
      const left = Chunk.toReadonlyArray(yield* Queue.takeAll(outcomes))
      if (left.length > 0) yield* dispatch.settle(id, left)
      yield* dispatch.release(id)
    })
  )
  const sending = yield* FiberSet.make<void>()
  const wake = yield* wakeUps

  /** What was canceled meanwhile is dropped. The queue has room for as many outcomes as rows can be in flight. */
  const attempt = (delivery: DueDelivery) =>
    Effect.suspend(() => {
      if (Option.isSome(target)) {
        return Effect.map(dispatch.attempt(target.value, delivery), (outcome) => outcomes.unsafeOffer(outcome))
      }
      inFlight -= 1
      return Effect.void
    })
  /** Lanes live as long as something waits: neither idle fibers nor a semaphore, which would wake all that wait. */
  const lane: Effect.Effect<void> = Effect.suspend(() => {
    const delivery = waiting.shift()
    if (delivery !== undefined) return Effect.flatMap(dispatch.withPermit(attempt(delivery)), () => lane)
    lanes -= 1
    return Effect.void
  })
  const openLanes = Effect.suspend(() => {
    const more = Math.min(sentAtOnce - lanes, waiting.length)
    lanes += more
    return Effect.replicateEffect(FiberSet.run(sending, lane), more, { discard: true })
  })

  const writeBack = (batch: ReadonlyArray<Settlement>) =>
    Effect.gen(function* () {
      const { isOver } = yield* dispatch.settle(id, batch)
      inFlight -= batch.length
      if (isOver) target = Option.none()
      const isDueAgain = batch.some(({ dueAt }) => Option.isSome(dueAt))
      if (isOver || isDueAgain || (isWaitingForRoom && hasRoom())) yield* Queue.offer(wake, undefined)
    })
  const settle = Queue.takeBetween(outcomes, 1, settledAtOnce).pipe(
    Effect.flatMap((batch) => Effect.uninterruptible(writeBack(Chunk.toReadonlyArray(batch)))),
    Effect.zipRight(Effect.sleep(gathering))
  )

  /** As far ahead as the receiver is fast: what waits long in memory would be `delivering` in name only. */
  const lookAhead = Effect.map(Clock.currentTimeMillis, (now) => {
    const taken = now - claimedAt
    claimedAt = now
    ahead = isQuick(taken) ? Math.min(ahead * 2, mostAhead) : isSlow(taken) ? Math.max(ahead / 2, sentAtOnce) : ahead
  })

  const rest = Effect.gen(function* () {
    const next = yield* dispatch.nextDue(id)
    if (Option.isNone(next)) return yield* Queue.take(wake)
    const wait = DateTime.distanceDuration(yield* DateTime.now, next.value)
    const isPast = DateTime.lessThan(next.value, yield* DateTime.now)
    const pause = isPast ? shortestRest : Duration.max(wait, shortestRest)
    yield* Effect.timeoutOption(Queue.take(wake), pause)
  })

  const turn = Effect.gen(function* () {
    target = Option.filter(yield* dispatch.open(id), ({ endpoint }) => endpoint.isActive)
    if (Option.isNone(target)) {
      yield* dispatch.cancel(id)
      return yield* Queue.take(wake)
    }
    isWaitingForRoom = !hasRoom()
    if (isWaitingForRoom) return yield* Queue.take(wake)
    const room = ahead - inFlight
    const due = yield* dispatch.claim(id, room)
    inFlight += due.length
    waiting.push(...due)
    yield* openLanes
    if (due.length === room) return yield* lookAhead
    yield* Effect.sleep(gathering)
    yield* rest
  })

  return yield* Effect.raceFirst(
    FiberSet.join(sending),
    Effect.all([Effect.forever(settle), Effect.forever(turn)], { concurrency: 2, discard: true })
  )
}, Effect.scoped)
