import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Predicate, Schema } from "effect"
import { orderKeyOf } from "./domain/OrderKey.ts"

const EventBody = Schema.Struct({ id: Schema.UUID, body: Schema.parseJson(Schema.Unknown) })
export type EventBody = typeof EventBody.Type

export class EventBodyRepo extends Effect.Service<EventBodyRepo>()("gatehouse/webhook/EventBodyRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const byIds = Effect.fn("EventBodyRepo.byIds")(
      SqlSchema.findAll({
        Request: Schema.Array(Schema.String),
        Result: EventBody,
        execute: (ids) => sql`SELECT id, body FROM webhook_events WHERE id = ANY(${ids}) FOR UPDATE`
      }),
      Effect.orDie
    )
    /** With the key that orders their deliveries, which is a part of the body. */
    const save = Effect.fn("EventBodyRepo.save")(function* (bodies: ReadonlyArray<EventBody>) {
      const rows = yield* Schema.encode(Schema.Array(EventBody))(bodies)
      const ids = rows.map(({ id }) => id)
      const keys = bodies.map(({ body }) => (Predicate.hasProperty(body, "data") ? orderKeyOf(body.data) : ""))
      yield* sql`
        UPDATE webhook_events SET body = changed.body, order_key = changed.order_key
        FROM unnest(${ids}::uuid[], ${rows.map(({ body }) => body)}::text[], ${keys}::text[])
          AS changed (id, body, order_key)
        WHERE webhook_events.id = changed.id`
      yield* sql`
        UPDATE webhook_deliveries SET order_key = changed.order_key
        FROM unnest(${ids}::uuid[], ${keys}::text[]) AS changed (event_id, order_key)
        WHERE webhook_deliveries.event_id = changed.event_id AND webhook_deliveries.order_key IS NOT NULL`
    }, Effect.orDie)
    const forgetAnswers = Effect.fn("EventBodyRepo.forgetAnswers")(
      (ids: ReadonlyArray<string>) => sql`
        UPDATE webhook_attempts SET response_body = NULL FROM webhook_deliveries
        WHERE webhook_deliveries.id = webhook_attempts.delivery_id AND webhook_deliveries.event_id = ANY(${ids})
          AND webhook_attempts.response_body IS NOT NULL`,
      Effect.asVoid,
      Effect.orDie
    )
    return { byIds, save, forgetAnswers } as const
  })
}) {}
