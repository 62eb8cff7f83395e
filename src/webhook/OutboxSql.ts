import { SqlClient } from "@effect/sql"
import { DateTime, Effect, FiberRef, Layer, Option } from "effect"
import { nextId } from "../kit/Id.ts"
import { DeliveryRepo } from "./DeliveryRepo.ts"
import { takes } from "./domain/EventFilter.ts"
import type { EndpointId, Owner } from "./domain/Webhook.ts"
import { EndpointRepo } from "./EndpointRepo.ts"
import { EndpointWaker } from "./EndpointWaker.ts"
import { Outbox, type OutboundEvent } from "./Outbox.ts"

const ownerField: { readonly [Kind in Owner["kind"]]: string } = { app: "app_id", account: "account_id" }

/** The raw body, fixed here for all attempts: member order is that of the specification. */
const bodyOf = ({ data, event, owner, timestamp }: OutboundEvent): string =>
  JSON.stringify({ event, [ownerField[owner.kind]]: owner.id, timestamp: DateTime.formatIso(timestamp), data })

/** The outbox on PostgreSQL: rows in the caller's transaction, wake-ups after its commit. */
export const layer = Layer.effect(
  Outbox,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const endpoints = yield* EndpointRepo
    const deliveries = yield* DeliveryRepo
    const waker = yield* EndpointWaker
    const open = FiberRef.unsafeMake(Option.none<Set<EndpointId>>())

    const publish = Effect.fn("Outbox.publish")(function* (events: ReadonlyArray<OutboundEvent>) {
      if (events.length === 0) return
      const owners = [...new Set(events.map(({ owner }) => owner.id))]
      const active = yield* endpoints.activeOf(owners)
      const createdAt = DateTime.toDateUtc(yield* DateTime.now)
      const wanted = events.flatMap((event) =>
        active
          .filter((endpoint) => endpoint.ownerId === event.owner.id && takes(endpoint.events, event.event))
          .map((endpoint) => ({ event, endpointId: endpoint.id }))
      )
      const rows = yield* Effect.forEach(wanted, ({ endpointId, event }) =>
        Effect.map(nextId, (id) => ({
          id,
          endpointId,
          ownerId: event.owner.id,
          eventId: event.eventId,
          event: event.event,
          state: "pending" as const,
          dueAt: createdAt,
          createdAt
        }))
      )
      yield* deliveries.insert(
        events.map((event) => ({
          id: event.eventId,
          ownerId: event.owner.id,
          event: event.event,
          body: bodyOf(event),
          createdAt: DateTime.toDateUtc(event.timestamp)
        })),
        rows
      )
      const collected = yield* FiberRef.get(open)
      if (Option.isSome(collected)) rows.forEach(({ endpointId }) => collected.value.add(endpointId))
    })

    return Outbox.of({
      publish,
      transaction: (effect) =>
        Effect.flatMap(FiberRef.get(open), (outer) => {
          if (Option.isSome(outer)) return sql.withTransaction(effect)
          const woken = new Set<EndpointId>()
          return sql
            .withTransaction(effect)
            .pipe(Effect.locally(open, Option.some(woken)), Effect.zipLeft(Effect.suspend(() => waker.wake(woken))))
        })
    })
  })
)
