import { SqlClient, SqlSchema, type Statement } from "@effect/sql"
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
    const selected = (
      { appId, before, from, limit, to, type }: typeof EventQuery.Encoded,
      whose: Statement.Fragment
    ) => sql`
      SELECT * FROM domain_events WHERE app_id = ${appId} ${whose}
      AND (${type}::text IS NULL OR type = ${type}::text)
      AND (${from}::timestamptz IS NULL OR (created_at >= ${from}::timestamptz AND id >= ${from === null ? null : idAt(from, -1)}::uuid))
      AND (${to}::timestamptz IS NULL OR (created_at < ${to}::timestamptz AND id < ${to === null ? null : idAt(to, 1)}::uuid))
      AND (${before}::uuid IS NULL OR id < ${before}::uuid) ORDER BY id DESC LIMIT ${limit}`

    /**
     * A person's events are those under any name that leads to the same customer: a page of each name, as the index has
     * them, and of these a page. Asked for all names at once, the events of the whole app would be walked for them.
     */
    const page = Effect.fn("EventRepo.page")(
      SqlSchema.findAll({
        Request: EventQuery,
        Result: DomainEvent,
        execute: (query) =>
          query.appUserId === null
            ? selected(query, sql``)
            : sql`
              WITH one AS (
                SELECT coalesce(merged_into, id) AS id FROM customers
                WHERE app_id = ${query.appId} AND app_user_id = ${query.appUserId}
              ), kin AS (
                SELECT app_user_id FROM customers JOIN one ON customers.id = one.id
                UNION ALL SELECT app_user_id FROM customers JOIN one ON customers.merged_into = one.id
              )
              SELECT told.* FROM kin
              CROSS JOIN LATERAL (${selected(query, sql`AND domain_events.app_user_id = kin.app_user_id`)}) AS told
              ORDER BY told.id DESC LIMIT ${query.limit}`
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
