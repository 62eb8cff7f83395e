import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"

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
    const save = Effect.fn("EventBodyRepo.save")(
      (bodies: ReadonlyArray<EventBody>) =>
        Effect.flatMap(
          Schema.encode(Schema.Array(EventBody))(bodies),
          (rows) => sql`
            UPDATE webhook_events SET body = changed.body
            FROM unnest(${rows.map(({ id }) => id)}::uuid[], ${rows.map(({ body }) => body)}::text[]) AS changed(id, body)
            WHERE webhook_events.id = changed.id`
        ),
      Effect.asVoid,
      Effect.orDie
    )
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
