import { SqlClient, SqlSchema } from "@effect/sql"
import { DateTime, Effect, Schema } from "effect"
import { firstIdAt } from "../kit/Id.ts"
import { EndpointId } from "./domain/Webhook.ts"

const atOnce = 10_000
/** An event's id is made before its time is noted, or as one with others of its transaction. */
const slack = { minutes: 1 }

const Range = Schema.Struct({
  endpointId: EndpointId,
  from: Schema.DateTimeUtcFromSelf,
  to: Schema.DateTimeUtcFromSelf,
  events: Schema.NullOr(Schema.Array(Schema.String)),
  now: Schema.DateTimeUtcFromSelf
})

const Made = Schema.Struct({ count: Schema.Int, next: Schema.OptionFromNullOr(Schema.DateTimeUtcFromDate) })

/** The filters that take an event, as `filtersTaking` says it: `*`, the event itself and its families. */
const filters = `ARRAY['*', e.event] || ARRAY(
  SELECT array_to_string((string_to_array(e.event, '.'))[1:n], '.') || '.*'
  FROM generate_series(1, cardinality(string_to_array(e.event, '.')) - 1) AS n)`

/** Deliveries that are made again from the events that are kept. */
export class ReplayRepo extends Effect.Service<ReplayRepo>()("gatehouse/webhook/ReplayRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /**
     * What still waits for the endpoint is left out: it will be sent anyway. `IS TRUE` has the database look for that by
     * the event: by the endpoint it would read all that waits for each event, as statistics from before a rush advise.
     * The ids are new and in the order of the events: version 7 of this moment, with the row's number where a generator
     * puts its sequence. A moment is taken whole or not at all, so that the next range can begin with it; one that is
     * larger than a piece is a piece of its own.
     */
    const replay = Effect.fn("ReplayRepo.replay")(
      SqlSchema.single({
        Request: Range,
        Result: Made,
        execute: ({ endpointId, events, from, now, to }) => sql`
          WITH endpoint AS (
            SELECT id, owner_id, events, is_ordered FROM webhook_endpoints WHERE id = ${endpointId} AND is_active FOR KEY SHARE
          ), found AS (
            SELECT e.id, e.owner_id, e.event, e.created_at, CASE WHEN is_ordered THEN coalesce(e.order_key, '') END AS order_key
            FROM endpoint JOIN webhook_events e ON e.owner_id = endpoint.owner_id
            WHERE e.id >= ${firstIdAt(DateTime.subtract(from, slack))}::uuid AND e.id < ${firstIdAt(DateTime.add(to, slack))}::uuid
              AND e.created_at >= ${DateTime.toDateUtc(from)} AND e.created_at < ${DateTime.toDateUtc(to)}
              AND e.event <> 'webhook.test' AND endpoint.events && (${sql.unsafe(filters)})
              AND (${events}::text[] IS NULL OR ${events}::text[] && (${sql.unsafe(filters)}))
              AND NOT EXISTS (SELECT FROM webhook_deliveries d
                WHERE d.event_id = e.id AND (d.endpoint_id = endpoint.id AND d.due_at IS NOT NULL) IS TRUE)
            ORDER BY e.created_at FETCH FIRST (${sql.literal(String(atOnce + 1))}) ROWS WITH TIES
          ), over AS (
            SELECT CASE WHEN count(*) > ${atOnce} THEN
              CASE WHEN min(created_at) = max(created_at) THEN max(created_at) + interval '1 millisecond' ELSE max(created_at) END
            END AS next FROM found
          ), chosen AS (
            SELECT found.*, row_number() OVER (ORDER BY found.created_at, found.id) AS n FROM found, over
            WHERE next IS NULL OR found.created_at < next
          ), made AS (
            INSERT INTO webhook_deliveries (id, endpoint_id, owner_id, event_id, event, state, due_at, created_at, order_key)
            SELECT (${firstIdAt(now).slice(0, 15)}::text || lpad(to_hex(n >> 12), 3, '0') || '-8' || lpad(to_hex(n & 4095), 3, '0')
                || '-' || right(gen_random_uuid()::text, 12))::uuid,
              ${endpointId}::uuid, owner_id, id, event, 'pending', ${DateTime.toDateUtc(now)}::timestamptz,
              ${DateTime.toDateUtc(now)}::timestamptz, order_key
            FROM chosen RETURNING id
          )
          SELECT (SELECT count(*)::int FROM made) AS count, next FROM over`
      }),
      Effect.orDie
    )
    return { replay } as const
  })
}) {}
