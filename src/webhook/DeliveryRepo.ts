import { SqlClient, SqlSchema } from "@effect/sql"
import { DateTime, Effect, Option, Schema } from "effect"
import { Delivery, DueDelivery } from "./domain/Delivery.ts"
import { type DeliveryId, DeliveryState, EndpointId, OwnerKind } from "./domain/Webhook.ts"

/** What became of one attempt, as it is written back. `dueAt` is none when there is nothing more to try. */
export interface Settlement {
  readonly deliveryId: DeliveryId
  readonly state: DeliveryState
  readonly attemptCount: number
  readonly dueAt: Option.Option<DateTime.Utc>
  readonly attempt: {
    readonly id: string
    readonly startedAt: DateTime.Utc
    readonly durationMs: number
    readonly code: number
    readonly responseBody: string | null
    readonly error: string | null
  }
}

const Filters = Schema.Struct({
  ownerKind: OwnerKind,
  ownerId: Schema.NullOr(Schema.UUID),
  endpointId: Schema.NullOr(Schema.UUID),
  event: Schema.NullOr(Schema.String),
  state: Schema.NullOr(DeliveryState),
  before: Schema.NullOr(Schema.UUID),
  limit: Schema.Int
})

export class DeliveryRepo extends Effect.Service<DeliveryRepo>()("gatehouse/webhook/DeliveryRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const selection = sql`
      SELECT webhook_deliveries.*, webhook_endpoints.owner_kind, webhook_events.body, coalesce((
        SELECT jsonb_agg(jsonb_build_object('id', a.id, 'number', a.number, 'code', a.code,
          'startedAt', to_char(a.started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
          'durationMs', a.duration_ms, 'responseBody', a.response_body, 'error', a.error) ORDER BY a.number, a.id)
        FROM webhook_attempts a WHERE a.delivery_id = webhook_deliveries.id
      ), '[]') AS attempts
      FROM webhook_deliveries JOIN webhook_events ON webhook_events.id = webhook_deliveries.event_id
      JOIN webhook_endpoints ON webhook_endpoints.id = webhook_deliveries.endpoint_id`

    const page = Effect.fn("DeliveryRepo.page")(
      SqlSchema.findAll({
        Request: Filters,
        Result: Delivery,
        execute: ({ before, endpointId, event, limit, ownerId, ownerKind, state }) => sql`
          ${selection} WHERE webhook_endpoints.owner_kind = ${ownerKind} AND (${ownerId}::uuid IS NULL OR webhook_deliveries.owner_id = ${ownerId}::uuid)
          AND (${endpointId}::uuid IS NULL OR endpoint_id = ${endpointId}::uuid)
          AND (${event}::text IS NULL OR webhook_deliveries.event = ${event}::text)
          AND (${state}::text IS NULL OR state = ${state}::text)
          AND (${before}::uuid IS NULL OR webhook_deliveries.id < ${before}::uuid)
          ORDER BY webhook_deliveries.id DESC LIMIT ${limit}`
      }),
      Effect.orDie
    )
    const byId = Effect.fn("DeliveryRepo.byId")(
      SqlSchema.findOne({
        Request: Schema.UUID,
        Result: Delivery,
        execute: (id) => sql`${selection} WHERE webhook_deliveries.id = ${id}`
      }),
      Effect.orDie
    )
    const insert = Effect.fn("DeliveryRepo.insert")(
      (
        events: ReadonlyArray<{
          readonly id: string
          readonly ownerId: string
          readonly event: string
          readonly body: string
          readonly createdAt: Date
        }>,
        deliveries: ReadonlyArray<{
          readonly id: string
          readonly endpointId: string
          readonly ownerId: string
          readonly eventId: string
          readonly event: string
          readonly state: DeliveryState
          readonly dueAt: Date
          readonly createdAt: Date
        }>
      ) =>
        Effect.all([
          sql`INSERT INTO webhook_events ${sql.insert(events)}`,
          deliveries.length === 0 ? Effect.void : sql`INSERT INTO webhook_deliveries ${sql.insert(deliveries)}`
        ]),
      Effect.asVoid,
      Effect.orDie
    )
    /** The next due rows of one endpoint that nobody here is sending; oldest due first. */
    const due = Effect.fn("DeliveryRepo.due")(
      SqlSchema.findAll({
        Request: Schema.Struct({
          endpointId: EndpointId,
          now: Schema.DateTimeUtcFromDate,
          except: Schema.Array(Schema.String),
          limit: Schema.Int
        }),
        Result: DueDelivery,
        execute: ({ endpointId, except, limit, now }) => sql`
          SELECT d.id, d.event_id, d.event, d.attempt_count, e.body
          FROM webhook_deliveries d JOIN webhook_events e ON e.id = d.event_id
          WHERE d.endpoint_id = ${endpointId} AND d.due_at <= ${now} AND NOT d.id = ANY(${except}::uuid[])
          ORDER BY d.due_at, d.id LIMIT ${limit}`
      }),
      Effect.orDie
    )
    const nextDue = Effect.fn("DeliveryRepo.nextDue")(
      SqlSchema.single({
        Request: EndpointId,
        Result: Schema.Struct({ dueAt: Schema.OptionFromNullOr(Schema.DateTimeUtcFromDate) }),
        execute: (id) =>
          sql`SELECT min(due_at) AS due_at FROM webhook_deliveries WHERE endpoint_id = ${id} AND due_at IS NOT NULL`
      }),
      Effect.map(({ dueAt }) => dueAt),
      Effect.orDie
    )
    const settle = Effect.fn("DeliveryRepo.settle")(
      function* (settlements: ReadonlyArray<Settlement>) {
        const rows = [...settlements].sort((left, right) => (left.deliveryId < right.deliveryId ? -1 : 1))
        yield* sql`
        INSERT INTO webhook_attempts
        ${sql.insert(
          rows.map(({ attempt, attemptCount, deliveryId }) => ({
            ...attempt,
            startedAt: DateTime.toDateUtc(attempt.startedAt),
            deliveryId,
            number: attemptCount
          }))
        )}`
        yield* sql`
        UPDATE webhook_deliveries d SET state = u.state, attempt_count = u.attempts, due_at = u.due_at
        FROM unnest(${rows.map((row) => row.deliveryId)}::uuid[], ${rows.map((row) => row.state)}::text[],
          ${rows.map((row) => row.attemptCount)}::int[],
          ${rows.map((row) => Option.getOrNull(Option.map(row.dueAt, DateTime.formatIso)))}::timestamptz[]
        ) AS u (id, state, attempts, due_at) WHERE d.id = u.id`
      },
      sql.withTransaction,
      Effect.orDie
    )

    const makeDue = Effect.fn("DeliveryRepo.makeDue")(
      (id: string, now: Date) => sql`
        UPDATE webhook_deliveries SET state = 'pending', due_at = ${now}
        WHERE id = ${id} AND state <> 'delivering' RETURNING id`,
      Effect.map((rows) => rows.length === 1),
      Effect.orDie
    )
    const cancel = Effect.fn("DeliveryRepo.cancel")(
      (endpointId: EndpointId) => sql`
        UPDATE webhook_deliveries SET state = 'canceled', due_at = NULL
        WHERE endpoint_id = ${endpointId} AND due_at IS NOT NULL`,
      Effect.asVoid,
      Effect.orDie
    )
    const endpointsDue = Effect.fn("DeliveryRepo.endpointsDue")(
      SqlSchema.findAll({
        Request: Schema.DateTimeUtcFromDate,
        Result: Schema.Struct({ id: EndpointId }),
        execute: (until) => sql`
          SELECT e.id FROM webhook_endpoints e WHERE EXISTS (
            SELECT 1 FROM webhook_deliveries d WHERE d.endpoint_id = e.id AND d.due_at <= ${until})`
      }),
      Effect.orDie
    )
    return { page, byId, insert, due, nextDue, settle, makeDue, cancel, endpointsDue } as const
  })
}) {}
