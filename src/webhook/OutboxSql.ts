import { SqlClient } from "@effect/sql"
import { Array, DateTime, Effect, FiberRef, Layer, Option } from "effect"
import type { DueDelivery } from "./domain/Delivery.ts"
import { filtersTaking } from "./domain/EventFilter.ts"
import { orderKeyOf } from "./domain/OrderKey.ts"
import type { EndpointId } from "./domain/Webhook.ts"
import { EndpointWaker } from "./EndpointWaker.ts"
import { together } from "../kit/Together.ts"
import { bodyOf, Outbox, type OutboundEvent } from "./Outbox.ts"
import { QueueRepo } from "./QueueRepo.ts"

/** Callers whose events share a transaction. */
const publishersAtOnce = 64

/** How deep the fiber is in transactions and their savepoints: 0 outside. */
const depth = Effect.map(
  Effect.serviceOption(SqlClient.TransactionConnection),
  Option.match({ onNone: () => 0, onSome: ([, savepoints]) => savepoints + 1 })
)

/** What one level of `transaction` published: rows that are reserved, and endpoints that can only be woken. */
class Published {
  readonly reserved = new Map<EndpointId, globalThis.Array<DueDelivery>>()
  readonly woken = new Set<EndpointId>()
  /** The level itself: below a savepoint that the outbox did not set, rows may be undone without its knowledge. */
  readonly depth: number
  /** Whether the end of the outermost level is the commit. */
  readonly endsInCommit: boolean

  constructor(depth: number, endsInCommit: boolean) {
    this.depth = depth
    this.endsInCommit = endsInCommit
  }

  add(endpointId: EndpointId, deliveries: ReadonlyArray<DueDelivery>) {
    const others = this.reserved.get(endpointId)
    if (others === undefined) this.reserved.set(endpointId, [...deliveries])
    else others.push(...deliveries)
  }

  absorb(inner: Published) {
    inner.woken.forEach((id) => this.woken.add(id))
    inner.reserved.forEach((deliveries, id) => this.add(id, deliveries))
  }
}

/** The outbox on PostgreSQL: rows in the caller's transaction, hand-over and wake-ups after its commit. */
export const layer = Layer.scoped(
  Outbox,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const queue = yield* QueueRepo
    const waker = yield* EndpointWaker
    const open = yield* FiberRef.make(Option.none<Published>())

    const inside = <A, E, R>(effect: (published: Published) => Effect.Effect<A, E, R>) =>
      Effect.flatMap(Effect.all([FiberRef.get(open), depth]), ([outer, around]) => {
        const endsInCommit = Option.match(outer, { onNone: () => around === 0, onSome: (level) => level.endsInCommit })
        const published = new Published(around + 1, endsInCommit)
        const committed = Option.match(outer, {
          onNone: () => Effect.zipRight(waker.handOver(published.reserved), waker.wake(published.woken)),
          onSome: (level) => Effect.sync(() => level.absorb(published))
        })
        return Effect.uninterruptibleMask((restore) =>
          restore(Effect.locally(sql.withTransaction(effect(published)), open, Option.some(published))).pipe(
            Effect.onError(() => waker.withdraw(published.reserved)),
            Effect.zipLeft(committed)
          )
        )
      })

    const write = Effect.fn("Outbox.publish")(function* (events: ReadonlyArray<OutboundEvent>, published: Published) {
      const rows = events.map((event) => ({
        id: event.eventId,
        ownerKind: event.owner.kind,
        ownerId: event.owner.id,
        event: event.event,
        body: bodyOf(event),
        filters: filtersTaking(event.event),
        orderKey: orderKeyOf(event.data),
        createdAt: event.timestamp
      }))
      const byId = new Map(rows.map((row) => [row.id, row]))
      const made = yield* queue.publish(rows, yield* DateTime.now)
      const isOurs = published.endsInCommit && published.depth === (yield* depth)
      yield* Effect.forEach(
        made,
        ({ endpointId, eventIds, ids }) => {
          const deliveries = Array.zipWith(ids, eventIds, (id, eventId): DueDelivery => {
            const { body = "", event = "" } = byId.get(eventId) ?? {}
            return { id, eventId, event, body, attemptCount: 0 }
          })
          return Effect.map(isOurs ? waker.reserve(endpointId, deliveries) : Effect.succeed(false), (isReserved) => {
            if (isReserved) published.add(endpointId, deliveries)
            else published.woken.add(endpointId)
          })
        },
        { discard: true }
      )
    })

    /** What callers without a transaction publish at the same time shares one. */
    const publishAlone = yield* together(publishersAtOnce, (asked: ReadonlyArray<ReadonlyArray<OutboundEvent>>) =>
      Effect.as(
        inside((published) => write(asked.flat(), published)),
        asked.map(() => undefined)
      )
    )

    const publish = (events: ReadonlyArray<OutboundEvent>) =>
      Effect.flatMap(Effect.all([FiberRef.get(open), depth]), ([outer, around]) => {
        if (Option.isSome(outer)) return write(events, outer.value)
        return Effect.orDie(around > 0 ? inside((published) => write(events, published)) : publishAlone(events))
      })

    return Outbox.of({
      transaction: (effect) => inside(() => effect),
      publish: (events) => (events.length === 0 ? Effect.void : publish(events)),
      isHeard: (owner) => `EXISTS (SELECT FROM webhook_endpoints WHERE owner_id = ${owner}::uuid AND is_active)`,
      wake: (ids) =>
        Effect.flatMap(
          FiberRef.get(open),
          Option.match({
            onNone: () => waker.wake(ids),
            onSome: ({ woken }) => Effect.sync(() => ids.forEach((id) => woken.add(id)))
          })
        )
    })
  })
)
