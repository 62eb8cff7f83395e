import { SqlClient, SqlSchema } from "@effect/sql"
import { DateTime, Effect, Schema } from "effect"
import { Delivery } from "./domain/Delivery.ts"
import { DeliveryState, OwnerKind } from "./domain/Webhook.ts"

const Filters = Schema.Struct({
  ownerKind: OwnerKind,
  ownerId: Schema.NullOr(Schema.UUID),
  endpointId: Schema.NullOr(Schema.UUID),
  event: Schema.NullOr(Schema.String),
  state: Schema.NullOr(DeliveryState),
  /** What this process is sending, whatever its rows say. */
  underWay: Schema.Array(Schema.String),
  before: Schema.NullOr(Schema.UUID),
  limit: Schema.Int
})

/** The delivery history of both APIs. What the outbox writes and the loops work through is in `QueueRepo`. */
export class DeliveryRepo extends Effect.Service<DeliveryRepo>()("gatehouse/webhook/DeliveryRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const selection = sql`
      SELECT webhook_deliveries.*, webhook_events.owner_kind, webhook_events.body AS payload, coalesce((
        SELECT jsonb_agg(jsonb_build_object('id', a.id, 'number', a.number, 'code', a.code,
          'startedAt', to_char(a.started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
          'durationMs', a.duration_ms, 'responseBody', a.response_body, 'error', a.error) ORDER BY a.id)
        FROM webhook_attempts a WHERE a.delivery_id = webhook_deliveries.id
      ), '[]') AS attempts
      FROM webhook_deliveries JOIN webhook_events ON webhook_events.id = webhook_deliveries.event_id`

    /** Says the state, and what is indexed of it: that something is still to do, or that it was lost. */
    const inState = (state: DeliveryState, underWay: ReadonlyArray<string>) => {
      switch (state) {
        case "delivering":
          return sql`AND (state = 'delivering' OR webhook_deliveries.id = ANY(${underWay}::uuid[])) AND due_at IS NOT NULL`
        case "pending":
        case "failed":
          return sql`AND state = ${state} AND due_at IS NOT NULL AND webhook_deliveries.id <> ALL(${underWay}::uuid[])`
        case "exhausted":
        case "canceled":
          return sql`AND lost = ${state}`
        case "succeeded":
          return sql`AND state = ${state}`
      }
    }

    const page = Effect.fn("DeliveryRepo.page")(
      SqlSchema.findAll({
        Request: Filters,
        Result: Delivery,
        execute: ({ before, endpointId, event, limit, ownerId, ownerKind, state, underWay }) => sql`
          ${selection} WHERE webhook_events.owner_kind = ${ownerKind} AND (${ownerId}::uuid IS NULL OR webhook_deliveries.owner_id = ${ownerId}::uuid)
          AND (${endpointId}::uuid IS NULL OR endpoint_id = ${endpointId}::uuid)
          AND (${event}::text IS NULL OR webhook_deliveries.event = ${event}::text)
          ${state === null ? sql`` : inState(state, underWay)}
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
    const byIds = Effect.fn("DeliveryRepo.byIds")(
      SqlSchema.findAll({
        Request: Schema.Struct({ ownerKind: OwnerKind, ids: Schema.Array(Schema.String) }),
        Result: Delivery,
        execute: ({ ids, ownerKind }) =>
          sql`${selection} WHERE webhook_events.owner_kind = ${ownerKind} AND webhook_deliveries.id = ANY(${ids})`
      }),
      Effect.orDie
    )
    /** False when it is being sent just now. */
    const makeDue = Effect.fn("DeliveryRepo.makeDue")(
      (id: string, now: DateTime.Utc) => sql`
        UPDATE webhook_deliveries SET state = 'pending', due_at = ${DateTime.toDateUtc(now)}
        WHERE id = ${id} AND state <> 'delivering' RETURNING id`,
      Effect.map((rows) => rows.length === 1),
      Effect.orDie
    )
    return { page, byId, byIds, makeDue } as const
  })
}) {}
