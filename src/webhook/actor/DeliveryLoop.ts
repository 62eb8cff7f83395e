import { Chunk, DateTime, Duration, Effect, FiberSet, Option, Queue, type Scope } from "effect"
import { Dispatch, type OpenEndpoint } from "../Dispatch.ts"
import type { DueDelivery, Settlement } from "../domain/Delivery.ts"
import type { DeliveryId, EndpointId } from "../domain/Webhook.ts"
import type { Intake } from "./AwakeEndpoints.ts"

const sentAtOnce = 32
const mostAhead = 2048
const settledAtOnce = 512

/** Between two turns: what comes within it is read, or written back, together. */
const gathering = Duration.millis(10)
/** A row that is due and that nobody could take is not asked for more often than this. */
const shortestRest = Duration.millis(100)

/** Milliseconds that an answer takes, from which on its receiver is not a fast one. */
const slow = 500

/**
 * Sends what is due for one endpoint, for ever: takes a bounded number of rows, attempts some of them at once, writes
 * outcomes back in batches and sleeps until the next row is due or a wake-up says that something changed. Due times are
 * rows, so a crash at any point only repeats attempts. While it is not behind it takes new rows from memory, as they are
 * committed. An interrupted loop finishes the attempts under way, at most the endpoint's time-out, and gives back the
 * rest. `listen` is heard, and offers rows, as long as its scope lasts.
 */
export const deliveryLoop = Effect.fn("DeliveryLoop")(function* (
  id: EndpointId,
  listen: (intake: Intake) => Effect.Effect<Queue.Queue<void>, never, Scope.Scope>
) {
  const dispatch = yield* Dispatch
  const outcomes = yield* Queue.bounded<Settlement>(mostAhead)
  let target = Option.none<OpenEndpoint>()
  const waiting: Array<DueDelivery> = []
  const held = new Set<DeliveryId>()
  let lanes = 0
  let inFlight = 0
  let ahead = sentAtOnce
  let isWaitingForRoom = false
  /** Rows that are due may be unread, or just being read: new ones have to stand behind them. */
  let isBehind = true

  const count = (rows: number) => {
    inFlight += rows
    dispatch.hold(rows)
  }
  /** What the lanes can take at once is always there; more only while the memory of all loops together allows it. */
  const room = () => Math.min(ahead - inFlight, Math.max(sentAtOnce - inFlight, dispatch.spare()))
  const hasRoom = () => inFlight < sentAtOnce || room() >= ahead / 2

  yield* dispatch.release(id)
  yield* Effect.addFinalizer(() =>
    Effect.gen(function* () {
      const left = Chunk.toReadonlyArray(yield* Queue.takeAll(outcomes))
      if (left.length > 0) yield* dispatch.settle(id, left)
      yield* dispatch.release(id)
      dispatch.hold(-inFlight)
    })
  )
  const sending = yield* FiberSet.make<void>()
  const drop = (deliveryId: DeliveryId) => {
    held.delete(deliveryId)
    count(-1)
  }

  /** What was canceled meanwhile is dropped. The queue has room for as many outcomes as rows can be in flight. */
  const attempt = (delivery: DueDelivery) =>
    Effect.suspend(() => {
      if (Option.isSome(target)) {
        return Effect.map(dispatch.attempt(target.value, delivery), (outcome) => outcomes.unsafeOffer(outcome))
      }
      drop(delivery.id)
      return Effect.void
    })
  /** Lanes live as long as something waits: neither idle fibers nor a semaphore, which would wake all that wait. */
  const lane: Effect.Effect<void> = Effect.suspend(() => {
    const delivery = waiting.shift()
    if (delivery !== undefined) return Effect.flatMap(dispatch.withPermit(attempt(delivery)), () => lane)
    lanes -= 1
    return Effect.void
  })
  const run = yield* FiberSet.runtime(sending)<never>()
  const enqueue = (deliveries: ReadonlyArray<DueDelivery>) => {
    waiting.push(...deliveries)
    for (let more = Math.min(sentAtOnce - lanes, waiting.length); more > 0; more--) {
      lanes += 1
      run(lane)
    }
  }
  const wake = yield* listen({
    reserve: (deliveries) => {
      isBehind ||= deliveries.length > room()
      if (isBehind || Option.isNone(target)) return false
      count(deliveries.length)
      deliveries.forEach((delivery) => held.add(delivery.id))
      return true
    },
    take: (reserved) => {
      if (!reserved.every((delivery) => held.has(delivery.id))) return false
      enqueue(reserved)
      return true
    },
    withdraw: (reserved) =>
      reserved.forEach((delivery) => {
        if (held.has(delivery.id)) drop(delivery.id)
      })
  })

  /** As far ahead as the receiver is fast: what waits long in memory would be `delivering` in name only. */
  const lookAhead = (batch: ReadonlyArray<Settlement>) => {
    const isFast = batch.every(({ attempt, state }) => state === "succeeded" && attempt.durationMs < slow)
    ahead = isFast ? Math.min(ahead + batch.length, mostAhead) : sentAtOnce
  }

  const writeBack = (batch: ReadonlyArray<Settlement>) =>
    Effect.gen(function* () {
      const { isOver } = yield* dispatch.settle(id, batch)
      batch.forEach(({ deliveryId }) => drop(deliveryId))
      lookAhead(batch)
      if (isOver) target = Option.none()
      const isDueAgain = batch.some(({ dueAt }) => Option.isSome(dueAt))
      if (isOver || isDueAgain || (isWaitingForRoom && hasRoom())) yield* Queue.offer(wake, undefined)
    })
  const settle = Queue.takeBetween(outcomes, 1, settledAtOnce).pipe(
    Effect.flatMap((batch) => Effect.uninterruptible(writeBack(Chunk.toReadonlyArray(batch)))),
    Effect.zipRight(Effect.sleep(gathering))
  )

  const rest = Effect.gen(function* () {
    const next = yield* dispatch.nextDue(id, held)
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
    const limit = room()
    isBehind = true
    const due = yield* dispatch.claim(id, limit, held)
    count(due.length)
    enqueue(due)
    if (due.length === limit) return
    isBehind = false
    yield* Effect.sleep(gathering)
    yield* rest
  })

  return yield* Effect.raceFirst(
    FiberSet.join(sending),
    Effect.all([Effect.forever(settle), Effect.forever(turn)], { concurrency: 2, discard: true })
  )
}, Effect.scoped)
