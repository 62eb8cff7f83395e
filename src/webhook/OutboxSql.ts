import { SqlClient } from "@effect/sql"
import { DateTime, Effect, FiberRef, Layer, Option } from "effect"
import { nextId } from "../kit/Id.ts"
import { takes } from "./domain/EventFilter.ts"
import type { EndpointId, Owner } from "./domain/Webhook.ts"
import { EndpointRepo } from "./EndpointRepo.ts"
import { EndpointWaker } from "./EndpointWaker.ts"
import { Outbox, type OutboundEvent } from "./Outbox.ts"
import { QueueRepo } from "./QueueRepo.ts"

const ownerField: { readonly [Kind in Owner["kind"]]: string } = { app: "app_id", account: "account_id" }

/** The raw body, fixed here for all attempts: member order is that of the specification. */
const bodyOf = ({ data, event, owner, timestamp }: OutboundEvent): string =>
  JSON.stringify({ event, [ownerField[owner.kind]]: owner.id, timestamp: DateTime.formatIso(timestamp), data })

/** The outbox on PostgreSQL: rows in the caller's transaction, wake-ups after its commit. */
export const layer = Layer.scoped(
  Outbox,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const endpoints = yield* EndpointRepo
    const queue = yield* QueueRepo
    const waker = yield* EndpointWaker
    const open = yield* FiberRef.make(Option.none<Set<EndpointId>>())

    const transaction = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.flatMap(FiberRef.get(open), (outer) => {
        if (Option.isSome(outer)) return sql.withTransaction(effect)
        const woken = new Set<EndpointId>()
        return Effect.uninterruptibleMask((restore) =>
          restore(Effect.locally(sql.withTransaction(effect), open, Option.some(woken))).pipe(
            Effect.zipLeft(Effect.suspend(() => waker.wake(woken)))
          )
        )
      })

    const write = Effect.fn("Outbox.publish")(function* (events: ReadonlyArray<OutboundEvent>) {
      const now = yield* DateTime.now
      const active = yield* endpoints.activeOf([...new Set(events.map(({ owner }) => owner.id))])
      const wanted = events.flatMap((event) =>
        active
          .filter((endpoint) => endpoint.ownerId === event.owner.id && takes(endpoint.events, event.event))
          .map((endpoint) => ({ event, endpointId: endpoint.id }))
      )
      const deliveries = yield* Effect.forEach(wanted, ({ endpointId, event: { event, eventId, owner } }) =>
        Effect.map(nextId, (id) => ({ id, endpointId, ownerId: owner.id, eventId, event }))
      )
      const rows = events.map((event) => ({
        id: event.eventId,
        ownerKind: event.owner.kind,
        ownerId: event.owner.id,
        event: event.event,
        body: bodyOf(event),
        createdAt: event.timestamp
      }))
      yield* queue.insert(rows, deliveries, now)
      const collected = yield* FiberRef.get(open)
      if (Option.isSome(collected)) deliveries.forEach(({ endpointId }) => collected.value.add(endpointId))
    })

    return Outbox.of({
      transaction,
      publish: (events) => {
        if (events.length === 0) return Effect.void
        return Effect.flatMap(FiberRef.get(open), (outer) =>
          Option.isSome(outer) ? write(events) : Effect.orDie(transaction(write(events)))
        )
      }
    })
  })
)
