import { Singleton } from "@effect/cluster"
import { DateTime, Effect, Layer, Option, Queue, Schedule } from "effect"
import { supervise } from "../../kit/Supervise.ts"
import { Backlog } from "../Backlog.ts"
import type { EndpointId } from "../domain/Webhook.ts"
import { EndpointWaker } from "../EndpointWaker.ts"
import { AwakeEndpoints } from "./AwakeEndpoints.ts"
import { EndpointEntity } from "./EndpointEntity.ts"

const waiting = 10_000
const calledAtOnce = 16
const answersWithin = "10 seconds"
const pollEvery = "30 seconds"
/** Further than the next poll, so that a loop sleeps towards its moment instead of being late by up to a poll. */
const lookAhead = { seconds: 45 }

const caller = Effect.map(
  EndpointEntity.client,
  (clientOf) => (id: EndpointId) =>
    clientOf(id)
      .Wake()
      .pipe(
        Effect.timeout(answersWithin),
        Effect.catchAll((error) => Effect.logDebug("an endpoint could not be woken", error))
      )
)

/** Tells the loops of this process directly, and calls the others by address: once for all that comes meanwhile. */
export const waker = Layer.scoped(
  EndpointWaker,
  Effect.gen(function* () {
    const awake = yield* AwakeEndpoints
    const call = yield* caller
    const queue = yield* Queue.dropping<EndpointId>(waiting)
    const queued = new Set<EndpointId>()

    const next = Effect.flatMap(Queue.take(queue), (id) => {
      queued.delete(id)
      return call(id)
    })
    const calling = Effect.all(
      Array.from({ length: calledAtOnce }, () => Effect.forever(next)),
      { concurrency: calledAtOnce, discard: true }
    )
    yield* Effect.forkScoped(supervise("EndpointWaker", calling))

    const tell = (id: EndpointId) => {
      if (awake.rouse(id) || queued.has(id)) return
      if (queue.unsafeOffer(id)) queued.add(id)
    }
    return EndpointWaker.of({
      wake: (ids) => Effect.sync(() => [...ids].forEach(tell)),
      reserve: (id, deliveries) =>
        Effect.sync(() => Option.exists(awake.intake(id), (intake) => intake.reserve(deliveries))),
      handOver: (reserved) =>
        Effect.sync(() =>
          reserved.forEach((deliveries, id) => {
            if (!Option.exists(awake.intake(id), (intake) => intake.take(deliveries))) tell(id)
          })
        ),
      withdraw: (reserved) =>
        Effect.sync(() =>
          reserved.forEach((deliveries, id) => {
            Option.map(awake.intake(id), (intake) => intake.withdraw(deliveries))
            tell(id)
          })
        )
    })
  })
)

/** At the start, and every 30 seconds as a safety net, wakes every endpoint that has something due, or soon will have. */
export const layer = Layer.unwrapEffect(
  Effect.gen(function* () {
    const backlog = yield* Backlog
    const call = yield* caller
    const wakeDue = Effect.gen(function* () {
      const due = yield* backlog.due(DateTime.add(yield* DateTime.now, lookAhead))
      yield* Effect.forEach(due, call, { concurrency: calledAtOnce, discard: true })
    })
    const polling = Effect.asVoid(Effect.repeat(wakeDue, Schedule.spaced(pollEvery)))
    return Singleton.make("WakeEndpoints", supervise("WakeEndpoints", polling))
  })
)
