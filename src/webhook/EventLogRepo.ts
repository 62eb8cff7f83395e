import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"

/** A place in the order in which events were committed; `xid` is a 64-bit number as text. */
export const Position = Schema.Struct({ xid: Schema.String, id: Schema.UUID })
export type Position = typeof Position.Type

export const LoggedEvent = Schema.Struct({
  ...Position.fields,
  ownerId: Schema.UUID,
  event: Schema.String,
  body: Schema.String
})
export type LoggedEvent = typeof LoggedEvent.Type

/** What stands in a stretch, from its beginning: not all of it where it is too many or too heavy for one reading. */
export interface Stretch {
  readonly events: ReadonlyArray<LoggedEvent>
  readonly isAll: boolean
}

const Row = Schema.Struct({ ...LoggedEvent.fields, found: Schema.Int })

const readAtOnce = { events: 200, bytes: 256 * 1024 }

export const isAfter = (one: Position, other: Position): boolean =>
  one.xid === other.xid ? one.id > other.id : BigInt(one.xid) > BigInt(other.xid)

const nil = "00000000-0000-0000-0000-000000000000"

/** The events of accounts, in the order in which they were committed. */
export class EventLogRepo extends Effect.Service<EventLogRepo>()("gatehouse/webhook/EventLogRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /** Behind everything that is committed for good: what is under way, and what comes, stands after it. */
    const tip = Effect.fn("EventLogRepo.tip")(
      SqlSchema.single({
        Request: Schema.Void,
        Result: Schema.Struct({ xid: Schema.String }),
        execute: () => sql`SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS xid`
      }),
      Effect.map(({ xid }): Position => ({ xid, id: nil })),
      Effect.orDie
    )
    /**
     * Where an event stands. Of one that was pruned, or that came from another server with its own count of transactions,
     * the place before the next younger one.
     */
    const positionOf = Effect.fn("EventLogRepo.positionOf")(
      SqlSchema.findOne({
        Request: Schema.UUID,
        Result: Position,
        execute: (id) => sql`
          SELECT xid::text AS xid, CASE id WHEN ${id}::uuid THEN id ELSE ${nil}::uuid END AS id FROM webhook_events
          WHERE id >= ${id}::uuid AND xid < pg_snapshot_xmax(pg_current_snapshot()) ORDER BY webhook_events.id LIMIT 1`
      }),
      Effect.orDie
    )
    /** What stands after one position and before another, one event at least. */
    const between = Effect.fn("EventLogRepo.between")(
      SqlSchema.findAll({
        Request: Schema.Struct({ after: Position, before: Position, ownerId: Schema.NullOr(Schema.UUID) }),
        Result: Row,
        execute: ({ after, before, ownerId }) => sql`
          WITH next AS (
            SELECT xid, id, owner_id, event, body FROM webhook_events
            WHERE (xid, id) > (${after.xid}::xid8, ${after.id}::uuid) AND (xid, id) < (${before.xid}::xid8, ${before.id}::uuid)
              AND owner_kind = 'account' ${ownerId === null ? sql`` : sql`AND owner_id = ${ownerId}`}
            ORDER BY webhook_events.xid, webhook_events.id LIMIT ${readAtOnce.events}
          ), weighed AS (
            SELECT *, sum(octet_length(body)) OVER (ORDER BY xid, id) - octet_length(body) AS bytes_before FROM next
          )
          SELECT xid::text AS xid, id, owner_id, event, body, (SELECT count(*)::int FROM next) AS found FROM weighed
          WHERE bytes_before < ${readAtOnce.bytes} ORDER BY weighed.xid, weighed.id`
      }),
      Effect.map((events: ReadonlyArray<typeof Row.Type>): Stretch => {
        const found = events[0]?.found ?? 0
        return { events, isAll: events.length === found && found < readAtOnce.events }
      }),
      Effect.orDie
    )
    return { tip, positionOf, between } as const
  })
}) {}
