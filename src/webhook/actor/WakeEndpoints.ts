import { Singleton } from "@effect/cluster"
import { DateTime, Effect, Layer, Queue, Schedule } from "effect"
import { supervise } from "../../kit/Supervise.ts"
import { DeliveryRepo } from "../DeliveryRepo.ts"
import type { EndpointId } from "../domain/Webhook.ts"
import { EndpointWaker } from "../EndpointWaker.ts"
import { EndpointEntity } from "./EndpointEntity.ts"

const waiting = 10_000

/** Wake-ups by entity address. Those that come while one is under way for the same endpoint are one. */
export const waker = Layer.scoped(
  EndpointWaker,
  Effect.gen(function* () {
    const clientOf = yield* EndpointEntity.client
    const queue = yield* Queue.dropping<EndpointId>(waiting)
    const queued = new Set<EndpointId>()

    const call = (id: EndpointId) =>
      clientOf(id)
        .Wake()
        .pipe(Effect.catchAll((error) => Effect.logDebug("an endpoint could not be woken", error)))

    const next = Effect.flatMap(Queue.take(queue), (id) => {
      queued.delete(id)
      return call(id)
    })
    yield* Effect.forkScoped(supervise("EndpointWaker", Effect.forever(next)))

    return EndpointWaker.of({
      wake: (ids) =>
        Effect.forEach(
          [...ids].filter((id) => !queued.has(id)),
          (id) => {
            queued.add(id)
            return Effect.flatMap(Queue.offer(queue, id), (isQueued) =>
              Effect.sync(() => (isQueued ? undefined : queued.delete(id)))
            )
          },
          { discard: true }
        )
    })
  })
)

const wakeDue = Effect.gen(function* () {
  const deliveries = yield* DeliveryRepo
  const endpoints = yield* EndpointWaker
  const due = yield* deliveries.endpointsDue(yield* DateTime.now)
  yield* endpoints.wake(due.map(({ id }) => id))
})

/** At the start, and every 30 seconds as a safety net, wakes every endpoint that has something due. */
export const layer = Singleton.make(
  "WakeEndpoints",
  supervise("WakeEndpoints", Effect.asVoid(Effect.repeat(wakeDue, Schedule.spaced("30 seconds"))))
)
