import { SqlClient, SqlSchema } from "@effect/sql"
import { DateTime, Effect, Option, Schema } from "effect"
import { DueDelivery, type Settlement } from "./domain/Delivery.ts"
import { DeliveryId, EndpointId, type OwnerKind } from "./domain/Webhook.ts"

interface NewEvent {
  readonly id: string
  readonly ownerKind: OwnerKind
  readonly ownerId: string
  readonly event: string
  readonly body: string
  readonly filters: ReadonlyArray<string>
  readonly createdAt: DateTime.Utc
}

const NewDelivery = Schema.Struct({ id: DeliveryId, endpointId: EndpointId, eventId: Schema.UUID })

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
 * Deliveries as a queue. `due_at` is set as long as there is something to do; `delivering` marks what a loop has taken,
 * and a crash leaves it due. What a loop was handed over stays as it was until it is settled: its loop names what it
 * holds. Arrays instead of value lists: one text for any number of rows.
 */
export class QueueRepo extends Effect.Service<QueueRepo>()("gatehouse/webhook/QueueRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const isFree = (held: ReadonlyArray<string>) =>
      held.length === 0
        ? sql`state <> 'delivering'`
        : sql`state <> 'delivering' AND NOT EXISTS (SELECT FROM unnest(${held}::uuid[]) AS h (id) WHERE h.id = webhook_deliveries.id)`

    /**
     * Keeps events and makes one due delivery for each active endpoint of their owner that has one of their `filters`.
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
            ${events.map(({ createdAt }) => DateTime.formatIso(createdAt))}::timestamptz[]
          ) AS e (id, owner_kind, owner_id, event, body, filters, created_at)
        ), kept AS (
          INSERT INTO webhook_events (id, owner_kind, owner_id, event, body, created_at)
          SELECT id, owner_kind, owner_id, event, body, created_at FROM new
        ), wanted AS (
          SELECT endpoint.id AS endpoint_id, new.id AS event_id, new.owner_id, new.event, new.created_at
          FROM webhook_endpoints endpoint
          JOIN new ON new.owner_id = endpoint.owner_id AND endpoint.events && string_to_array(new.filters, ' ')
          WHERE endpoint.is_active ORDER BY endpoint.id, new.id FOR KEY SHARE OF endpoint
        )
        INSERT INTO webhook_deliveries (id, endpoint_id, owner_id, event_id, event, state, due_at, created_at)
        SELECT overlay(event_id::text PLACING right(gen_random_uuid()::text, 10) FROM 27)::uuid,
          endpoint_id, owner_id, event_id, event, 'pending', ${DateTime.toDateUtc(now)}::timestamptz, created_at
        FROM wanted
        RETURNING id, endpoint_id, event_id`,
      Effect.flatMap(Schema.decodeUnknown(Schema.Array(NewDelivery))),
      Effect.orDie
    )
    /** Keeps an event that goes to one endpoint only, with its due delivery. */
    const publishTo = Effect.fn("QueueRepo.publishTo")(
      (id: DeliveryId, endpointId: EndpointId, event: Omit<NewEvent, "filters">) => sql`
        WITH kept AS (
          INSERT INTO webhook_events ${sql.insert({ ...event, createdAt: DateTime.toDateUtc(event.createdAt) })}
          RETURNING id, owner_id, event, created_at
        )
        INSERT INTO webhook_deliveries (id, endpoint_id, owner_id, event_id, event, state, due_at, created_at)
        SELECT ${id}::uuid, ${endpointId}::uuid, owner_id, id, event, 'pending', created_at, created_at FROM kept`,
      Effect.asVoid,
      Effect.orDie
    )
    /** Takes the next due rows of one endpoint, longest due first, but those that its loop holds already. */
    const claim = Effect.fn("QueueRepo.claim")(
      SqlSchema.findAll({
        Request: Schema.Struct({
          endpointId: EndpointId,
          now: Schema.DateTimeUtcFromDate,
          limit: Schema.Int,
          held: Schema.Array(Schema.String)
        }),
        Result: DueDelivery,
        execute: ({ endpointId, held, limit, now }) => sql`
          WITH due AS (
            SELECT id FROM webhook_deliveries
            WHERE endpoint_id = ${endpointId} AND due_at <= ${now} AND ${isFree(held)}
            ORDER BY due_at, id LIMIT ${limit}
          ), taken AS (
            UPDATE webhook_deliveries d SET state = 'delivering' FROM due
            WHERE d.id = due.id AND d.due_at <= ${now} AND d.state <> 'delivering'
            RETURNING d.id, d.event_id, d.event, d.attempt_count, d.due_at
          )
          SELECT taken.id, event_id, taken.event, attempt_count, body
          FROM taken JOIN webhook_events e ON e.id = event_id ORDER BY due_at, taken.id`
      }),
      Effect.orDie
    )
    const nextDue = Effect.fn("QueueRepo.nextDue")(
      SqlSchema.single({
        Request: Schema.Struct({ endpointId: EndpointId, held: Schema.Array(Schema.String) }),
        Result: Schema.Struct({ dueAt: Schema.OptionFromNullOr(Schema.DateTimeUtcFromDate) }),
        execute: ({ endpointId, held }) => sql`
          SELECT min(due_at) AS due_at FROM webhook_deliveries
          WHERE endpoint_id = ${endpointId} AND due_at IS NOT NULL AND ${isFree(held)}`
      }),
      Effect.map(({ dueAt }) => dueAt),
      Effect.orDie
    )
    /** What was canceled meanwhile stays so, unless it arrived after all. `isWell` forgets the endpoint's failures. */
    const settle = Effect.fn("QueueRepo.settle")(
      (
        endpointId: EndpointId,
        settlements: ReadonlyArray<Settlement>,
        isWell: boolean
      ) => sql`/* prepared: delivery_settle */
        WITH well AS (
          UPDATE webhook_endpoints SET failing_since = NULL
          WHERE id = ${endpointId} AND failing_since IS NOT NULL AND ${isWell}
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
    const openOf = (endpointId: EndpointId) => sql`
      SELECT id FROM webhook_deliveries WHERE endpoint_id = ${endpointId} AND due_at IS NOT NULL`

    /** Gives back what a loop took and did not send. */
    const release = Effect.fn("QueueRepo.release")(
      (endpointId: EndpointId) => sql`
        WITH taken AS (${openOf(endpointId)} AND state = 'delivering' ORDER BY id FOR UPDATE)
        UPDATE webhook_deliveries d SET state = CASE attempt_count WHEN 0 THEN 'pending' ELSE 'failed' END
        FROM taken WHERE d.id = taken.id`,
      Effect.asVoid,
      Effect.orDie
    )
    const cancel = Effect.fn("QueueRepo.cancel")(
      (endpointId: EndpointId) => sql`
        WITH open AS (${openOf(endpointId)} ORDER BY id FOR UPDATE)
        UPDATE webhook_deliveries d SET state = 'canceled', due_at = NULL FROM open WHERE d.id = open.id`,
      Effect.asVoid,
      Effect.orDie
    )
    const endpointsDue = Effect.fn("QueueRepo.endpointsDue")(
      SqlSchema.findAll({
        Request: Schema.DateTimeUtcFromDate,
        Result: Schema.Struct({ id: EndpointId }),
        execute: (until) => sql`
          SELECT e.id FROM webhook_endpoints e WHERE EXISTS (
            SELECT 1 FROM webhook_deliveries d WHERE d.endpoint_id = e.id AND d.due_at <= ${until})`
      }),
      Effect.orDie
    )
    return { publish, publishTo, claim, nextDue, settle, release, cancel, endpointsDue } as const
  })
}) {}
