import { Chunk, DateTime, Duration, Effect, FiberSet, Option, Queue } from "effect"
import type { Settlement } from "../DeliveryRepo.ts"
import { Dispatch, type OpenEndpoint } from "../Dispatch.ts"
import type { DueDelivery } from "../domain/Delivery.ts"
import type { EndpointId } from "../domain/Webhook.ts"

const sentAtOnce = 32
const readAhead = 256
const settledAtOnce = 256
const longestSleep = Duration.minutes(1)

/**
 * Sends what is due for one endpoint, for ever: reads a bounded number of rows ahead, attempts some of them at once,
 * writes outcomes back in batches and sleeps until the next row is due or `wake` says that there is more. Due times are
 * rows, so a crash at any point only repeats attempts.
 */
export const deliveryLoop = Effect.fn("DeliveryLoop")(function* (id: EndpointId, wake: Queue.Dequeue<void>) {
  const dispatch = yield* Dispatch
  const outcomes = yield* Queue.bounded<Settlement>(settledAtOnce)
  const roused = yield* Queue.sliding<void>(1)
  const lanes = yield* Effect.makeSemaphore(sentAtOnce)
  const sending = yield* FiberSet.make<void>()
  const inFlight = new Set<string>()

  const send = (target: OpenEndpoint, delivery: DueDelivery) =>
    lanes.withPermits(1)(
      Effect.gen(function* () {
        const { disable, settlement } = yield* dispatch.attempt(target, delivery)
        if (Option.isSome(disable)) yield* dispatch.disable(id, disable.value)
        yield* Queue.offer(outcomes, settlement)
      })
    )

  const settle = Effect.gen(function* () {
    const batch = Chunk.toReadonlyArray(yield* Queue.takeBetween(outcomes, 1, settledAtOnce))
    yield* dispatch.settle(batch)
    batch.forEach(({ deliveryId }) => inFlight.delete(deliveryId))
    yield* Queue.offer(roused, undefined)
  })

  const sleep = Effect.gen(function* () {
    const now = yield* DateTime.now
    const next = yield* dispatch.nextDue(id)
    const wait = Option.match(next, {
      onNone: () => longestSleep,
      onSome: (due) =>
        Duration.clamp({ minimum: Duration.zero, maximum: longestSleep })(DateTime.distanceDuration(now, due))
    })
    const isAhead = Option.exists(next, DateTime.greaterThan(now)) || Option.isNone(next)
    yield* Queue.take(roused).pipe(Effect.timeoutOption(isAhead ? wait : longestSleep))
  })

  const turn = Effect.gen(function* () {
    const target = yield* dispatch.open(id)
    if (Option.isNone(target)) return yield* Effect.never
    if (!target.value.endpoint.isActive) {
      yield* dispatch.cancel(id)
      return yield* Queue.take(roused)
    }
    const room = readAhead - inFlight.size
    const due = room > readAhead / 2 ? yield* dispatch.due(id, inFlight, room) : []
    due.forEach((delivery) => inFlight.add(delivery.id))
    yield* Effect.forEach(due, (delivery) => FiberSet.run(sending, send(target.value, delivery)), { discard: true })
    if (due.length === 0) yield* sleep
  })

  const forward = Effect.forever(Effect.zipRight(Queue.take(wake), Queue.offer(roused, undefined)))

  return yield* Effect.raceFirst(
    FiberSet.join(sending),
    Effect.all([Effect.forever(settle), Effect.forever(turn), forward], { concurrency: 3, discard: true })
  )
}, Effect.scoped)
