import { SqlClient } from "@effect/sql"
import { DateTime, Effect, Option, Schema } from "effect"
import type { Settlement } from "./domain/Delivery.ts"
import { DeliveryId, EndpointId, type OwnerKind } from "./domain/Webhook.ts"

interface NewEvent {
  readonly id: string
  readonly ownerKind: OwnerKind
  readonly ownerId: string
  readonly event: string
  readonly body: string
  readonly filters: ReadonlyArray<string>
  readonly orderKey: string
  readonly createdAt: DateTime.Utc
}

/** A row for each endpoint, with lists that are parallel: a row for each delivery would cost more than its insertion. */
const NewDeliveries = Schema.Struct({
  endpointId: EndpointId,
  ids: Schema.compose(Schema.split(","), Schema.Array(DeliveryId)),
  eventIds: Schema.split(",")
})

/** Between bodies: JSON escapes it, and joined they need no quoting, which costs more than all else here. */
const separator = "\u001e"

const list = (settlements: ReadonlyArray<Settlement>, field: (row: Settlement) => string | number) =>
  settlements.map(field).join(",")

const dueText = Option.match({ onNone: () => "-", onSome: DateTime.formatIso })

/** Each text behind one character, so that an empty one differs from none. */
const texts = (settlements: ReadonlyArray<Settlement>, field: (row: Settlement) => string | null) =>
  settlements
    .map((row) => {
      const text = field(row)
      return text === null ? "" : `=${text.replaceAll(separator, "")}`
    })
    .join(separator)

/**
 * Both ends of the queue of deliveries: what is published, and what became of it; `DueRepo` is what loops read in between.
 * Arrays instead of value lists: one text for any number of rows.
 */
export class QueueRepo extends Effect.Service<QueueRepo>()("gatehouse/webhook/QueueRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /**
     * Makes one due delivery for each active endpoint of the events' owner that has one of their `filters`, and keeps the
     * events that have any, with those of accounts, which live streams go on from.
     * The endpoints' keys are held until the transaction ends: none is removed meanwhile. A delivery's id is that of its
     * event but for the last five bytes, so deliveries sort like their events.
     */
    const publish = Effect.fn("QueueRepo.publish")(
      (events: ReadonlyArray<NewEvent>, now: DateTime.Utc) => sql`/* prepared: outbox_publish */
        WITH new AS (
          SELECT * FROM unnest(${events.map(({ id }) => id)}::uuid[], ${events.map(({ ownerKind }) => ownerKind)}::text[],
            ${events.map(({ ownerId }) => ownerId)}::uuid[], ${events.map(({ event }) => event)}::text[],
            string_to_array(${events.map(({ body }) => body).join(separator)}, ${separator}),
            ${events.map(({ filters }) => filters.join(" "))}::text[],
            ${events.map(({ orderKey }) => orderKey)}::text[],
            ${events.map(({ createdAt }) => DateTime.formatIso(createdAt))}::timestamptz[]
          ) AS e (id, owner_kind, owner_id, event, body, filters, order_key, created_at)
        ), wanted AS (
          SELECT endpoint.id AS endpoint_id, new.id AS event_id, new.owner_id, new.event, new.created_at,
            CASE WHEN endpoint.is_ordered THEN new.order_key END AS order_key
          FROM webhook_endpoints endpoint
          JOIN new ON new.owner_id = endpoint.owner_id AND endpoint.events && string_to_array(new.filters, ' ')
          WHERE endpoint.is_active ORDER BY endpoint.id, new.id FOR KEY SHARE OF endpoint
        ), kept AS (
          INSERT INTO webhook_events (id, owner_kind, owner_id, event, body, order_key, created_at)
          SELECT id, owner_kind, owner_id, event, body, order_key, created_at FROM new
          WHERE owner_kind = 'account' OR id IN (SELECT event_id FROM wanted)
        ), made AS (
          INSERT INTO webhook_deliveries (id, endpoint_id, owner_id, event_id, event, state, due_at, created_at, order_key)
          SELECT overlay(event_id::text PLACING right(gen_random_uuid()::text, 10) FROM 27)::uuid,
            endpoint_id, owner_id, event_id, event, 'pending', ${DateTime.toDateUtc(now)}::timestamptz, created_at, order_key
          FROM wanted
          RETURNING id, endpoint_id, event_id
        )
        SELECT endpoint_id, string_agg(id::text, ',' ORDER BY id) AS ids, string_agg(event_id::text, ',' ORDER BY id) AS event_ids
        FROM made GROUP BY endpoint_id`,
      Effect.flatMap(Schema.decodeUnknown(Schema.Array(NewDeliveries))),
      Effect.orDie
    )
    /** Keeps an event that goes to one endpoint only, with its due delivery. */
    const publishTo = Effect.fn("QueueRepo.publishTo")(
      (id: DeliveryId, endpointId: EndpointId, event: Omit<NewEvent, "filters" | "orderKey">) => sql`
        WITH kept AS (
          INSERT INTO webhook_events ${sql.insert({ ...event, createdAt: DateTime.toDateUtc(event.createdAt) })}
          RETURNING id, owner_id, event, created_at
        )
        INSERT INTO webhook_deliveries (id, endpoint_id, owner_id, event_id, event, state, due_at, created_at)
        SELECT ${id}::uuid, ${endpointId}::uuid, owner_id, id, event, 'pending', created_at, created_at FROM kept`,
      Effect.asVoid,
      Effect.orDie
    )
    /**
     * Writes back what became of attempts, of any endpoints; those that are `well` have no failures to remember. What was
     * canceled meanwhile stays so, unless it arrived after all.
     */
    const settle = Effect.fn("QueueRepo.settle")(
      (settlements: ReadonlyArray<Settlement>, well: ReadonlyArray<EndpointId>) => sql`/* prepared: delivery_settle */
        WITH well AS (
          UPDATE webhook_endpoints SET failing_since = NULL
          WHERE id = ANY(${well}::uuid[]) AND failing_since IS NOT NULL
        ), settled AS (
          SELECT * FROM unnest(string_to_array(${list(settlements, (row) => row.deliveryId)}, ',')::uuid[],
            string_to_array(${list(settlements, (row) => row.state)}, ','),
            string_to_array(${list(settlements, (row) => row.attemptCount)}, ',')::int[],
            string_to_array(${list(settlements, ({ dueAt }) => dueText(dueAt))}, ',', '-')::timestamptz[],
            string_to_array(${list(settlements, ({ attempt }) => attempt.id)}, ',')::uuid[],
            string_to_array(${list(settlements, ({ attempt }) => DateTime.formatIso(attempt.startedAt))}, ',')::timestamptz[],
            string_to_array(${list(settlements, ({ attempt }) => attempt.durationMs)}, ',')::int[],
            string_to_array(${list(settlements, ({ attempt }) => attempt.code)}, ',')::int[],
            string_to_array(${texts(settlements, ({ attempt }) => attempt.responseBody)}, ${separator}),
            string_to_array(${texts(settlements, ({ attempt }) => attempt.error)}, ${separator})
          ) AS s (id, state, number, due_at, attempt_id, started_at, duration_ms, code, response_body, error)
        ), updated AS (
          UPDATE webhook_deliveries d SET attempt_count = s.number,
            state = CASE WHEN d.state <> 'canceled' OR s.state = 'succeeded' THEN s.state ELSE d.state END,
            due_at = CASE WHEN d.state <> 'canceled' OR s.state = 'succeeded' THEN s.due_at ELSE d.due_at END
          FROM settled s WHERE d.id = s.id RETURNING d.id
        )
        INSERT INTO webhook_attempts (id, delivery_id, number, started_at, duration_ms, code, response_body, error)
        SELECT attempt_id, id, number, started_at, duration_ms, code,
          CASE WHEN response_body <> '' THEN substr(response_body, 2) END, CASE WHEN error <> '' THEN substr(error, 2) END
        FROM settled JOIN updated USING (id)`,
      Effect.asVoid,
      Effect.orDie
    )
    return { publish, publishTo, settle } as const
  })
}) {}
