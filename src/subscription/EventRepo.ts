import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
import { AppId } from "../catalog/domain/App.ts"
import { DomainEvent, DomainEventId, DomainEventType } from "./domain/DomainEvent.ts"

const EventRow = Schema.Struct({
  ...DomainEvent.fields,
  data: Schema.parseJson(Schema.Unknown),
  appId: AppId,
  cause: Schema.String
})

export class EventRepo extends Effect.Service<EventRepo>()("gatehouse/subscription/EventRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /** Writes what is new and answers the ids of that: a cause that has made its event makes no second one. */
    const insert = Effect.fn("EventRepo.insert")(
      (rows: ReadonlyArray<typeof EventRow.Type>) =>
        Effect.flatMap(
          Schema.encode(Schema.Array(EventRow))(rows),
          (encoded) => sql`
            INSERT INTO domain_events ${sql.insert(encoded)} ON CONFLICT (app_id, cause) DO NOTHING RETURNING id`
        ),
      Effect.flatMap(Schema.decodeUnknown(Schema.Array(Schema.Struct({ id: DomainEventId })))),
      Effect.map((rows) => new Set(rows.map(({ id }) => id))),
      Effect.orDie
    )
    const page = Effect.fn("EventRepo.page")(
      SqlSchema.findAll({
        Request: Schema.Struct({
          appId: AppId,
          type: Schema.NullOr(DomainEventType),
          appUserId: Schema.NullOr(Schema.String),
          before: Schema.NullOr(Schema.UUID),
          limit: Schema.Int
        }),
        Result: DomainEvent,
        execute: ({ appId, appUserId, before, limit, type }) => sql`
          SELECT * FROM domain_events WHERE app_id = ${appId}
          AND (${type}::text IS NULL OR type = ${type}::text)
          AND (${appUserId}::text IS NULL OR app_user_id = ${appUserId}::text)
          AND (${before}::uuid IS NULL OR id < ${before}::uuid) ORDER BY id DESC LIMIT ${limit}`
      }),
      Effect.orDie
    )
    return { insert, page } as const
  })
}) {}
