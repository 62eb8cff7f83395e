import { SqlClient, SqlSchema } from "@effect/sql"
import { DateTime, Effect, Schema } from "effect"
import { AppId } from "../catalog/domain/App.ts"
import { firstIdAt } from "../kit/Id.ts"
import { DomainEvent, DomainEventId, DomainEventType } from "./domain/DomainEvent.ts"

const EventRow = Schema.Struct({
  ...DomainEvent.fields,
  data: Schema.parseJson(Schema.Unknown),
  appId: AppId,
  cause: Schema.String
})

const EventQuery = Schema.Struct({
  appId: AppId,
  type: Schema.NullOr(DomainEventType),
  appUserId: Schema.NullOr(Schema.String),
  from: Schema.NullOr(Schema.DateTimeUtcFromDate),
  to: Schema.NullOr(Schema.DateTimeUtcFromDate),
  before: Schema.NullOr(Schema.UUID),
  limit: Schema.Int
})
export type EventQuery = typeof EventQuery.Type

/** Ids are made within moments of `created_at`: they bound a range of time where the index is, minutes around it. */
const idAt = (moment: Date, minutes: number): string =>
  firstIdAt(DateTime.add(DateTime.unsafeFromDate(moment), { minutes }))

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
    /** A person's events are those under any name that leads to the same customer. */
    const page = Effect.fn("EventRepo.page")(
      SqlSchema.findAll({
        Request: EventQuery,
        Result: DomainEvent,
        execute: ({ appId, appUserId, before, from, limit, to, type }) => sql`
          SELECT * FROM domain_events WHERE app_id = ${appId}
          AND (${type}::text IS NULL OR type = ${type}::text)
          AND (${appUserId}::text IS NULL OR app_user_id IN (
            SELECT kin.app_user_id FROM customers named
            JOIN customers kin ON coalesce(named.merged_into, named.id) IN (kin.id, kin.merged_into)
            WHERE named.app_id = ${appId} AND named.app_user_id = ${appUserId}::text))
          AND (${from}::timestamptz IS NULL OR (created_at >= ${from}::timestamptz AND id >= ${from === null ? null : idAt(from, -1)}::uuid))
          AND (${to}::timestamptz IS NULL OR (created_at < ${to}::timestamptz AND id < ${to === null ? null : idAt(to, 1)}::uuid))
          AND (${before}::uuid IS NULL OR id < ${before}::uuid) ORDER BY id DESC LIMIT ${limit}`
      }),
      Effect.orDie
    )
    const byIds = Effect.fn("EventRepo.byIds")(
      SqlSchema.findAll({
        Request: Schema.Array(Schema.String),
        Result: DomainEvent,
        execute: (ids) => sql`SELECT * FROM domain_events WHERE id = ANY(${ids})`
      }),
      Effect.orDie
    )
    return { insert, page, byIds } as const
  })
}) {}
