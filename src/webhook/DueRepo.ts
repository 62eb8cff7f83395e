import { SqlClient, SqlSchema, type Statement } from "@effect/sql"
import { DateTime, Effect, Schema } from "effect"
import { DueDelivery } from "./domain/Delivery.ts"
import { EndpointId } from "./domain/Webhook.ts"

const Line = Schema.Struct({ endpointId: EndpointId, isOrdered: Schema.Boolean, held: Schema.Array(Schema.String) })
type Line = typeof Line.Encoded

const DueAt = Schema.Struct({ dueAt: Schema.OptionFromNullOr(Schema.DateTimeUtcFromDate) })

/** What is counted exactly; more is told as this. */
const countedAtMost = 100_000
const canceledAtOnce = 10_000

/**
 * Deliveries that are due. `due_at` is set as long as there is something to do; `delivering` marks what a loop has taken,
 * and a crash leaves it due. What a loop was handed over stays as it was until it is settled: its loop names what it
 * holds. An ordered endpoint's line has one head for each key: the oldest delivery that is not done, due or not.
 */
export class DueRepo extends Effect.Service<DueRepo>()("gatehouse/webhook/DueRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const isFree = (held: ReadonlyArray<string>) =>
      held.length === 0
        ? sql`state <> 'delivering'`
        : sql`state <> 'delivering' AND NOT EXISTS (SELECT FROM unnest(${held}::uuid[]) AS h (id) WHERE h.id = line.id)`

    /** From one key to the next through the index: costs what there are keys, not what waits behind them. */
    const heads = (endpointId: string) => {
      const first = (after: Statement.Fragment) => sql`
        SELECT id, event_id, due_at, state, order_key FROM webhook_deliveries
        WHERE endpoint_id = ${endpointId} AND due_at IS NOT NULL AND order_key ${after} ORDER BY order_key, id LIMIT 1`
      return sql`
        WITH RECURSIVE head AS (
          (${first(sql`IS NOT NULL`)})
          UNION ALL
          SELECT next.* FROM head CROSS JOIN LATERAL (${first(sql`> head.order_key`)}) AS next
        )
        SELECT id, event_id, due_at, state FROM head
        UNION ALL
        SELECT id, event_id, due_at, state FROM webhook_deliveries
        WHERE endpoint_id = ${endpointId} AND due_at IS NOT NULL AND order_key IS NULL`
    }
    const lineOf = ({ endpointId, isOrdered }: Line) =>
      isOrdered
        ? heads(endpointId)
        : sql`SELECT id, event_id, due_at, state FROM webhook_deliveries WHERE endpoint_id = ${endpointId} AND due_at IS NOT NULL`

    /** Takes the next due rows, longest due first, with at most so many bytes of bodies beside the first one. */
    const claim = Effect.fn("DueRepo.claim")(
      SqlSchema.findAll({
        Request: Schema.Struct({
          ...Line.fields,
          now: Schema.DateTimeUtcFromDate,
          limit: Schema.Int,
          bytes: Schema.Int
        }),
        Result: DueDelivery,
        execute: ({ bytes, limit, now, ...line }) => sql`
          WITH due AS (
            SELECT next.id, sum(octet_length(body)) OVER (ORDER BY due_at, next.id) - octet_length(body) AS bytes_before
            FROM (
              SELECT id, event_id, due_at FROM (${lineOf(line)}) AS line
              WHERE due_at <= ${now} AND ${isFree(line.held)} ORDER BY due_at, id LIMIT ${limit}
            ) AS next JOIN webhook_events e ON e.id = next.event_id
          ), taken AS (
            UPDATE webhook_deliveries d SET state = 'delivering' FROM due
            WHERE d.id = due.id AND bytes_before < ${bytes} AND d.due_at <= ${now} AND d.state <> 'delivering'
            RETURNING d.id, d.event_id, d.event, d.attempt_count, d.due_at
          )
          SELECT taken.id, event_id, taken.event, attempt_count, body
          FROM taken JOIN webhook_events e ON e.id = event_id ORDER BY due_at, taken.id`
      }),
      Effect.orDie
    )
    const nextDue = Effect.fn("DueRepo.nextDue")(
      SqlSchema.single({
        Request: Line,
        Result: DueAt,
        execute: (line) => sql`SELECT min(due_at) AS due_at FROM (${lineOf(line)}) AS line WHERE ${isFree(line.held)}`
      }),
      Effect.map(({ dueAt }) => dueAt),
      Effect.orDie
    )
    const openOf = (endpointId: EndpointId) => sql`
      SELECT id FROM webhook_deliveries WHERE endpoint_id = ${endpointId} AND due_at IS NOT NULL`

    /** Gives back what a loop took and did not send. */
    const release = Effect.fn("DueRepo.release")(
      (endpointId: EndpointId) => sql`
        WITH taken AS (${openOf(endpointId)} AND state = 'delivering' ORDER BY id FOR UPDATE)
        UPDATE webhook_deliveries d SET state = CASE attempt_count WHEN 0 THEN 'pending' ELSE 'failed' END
        FROM taken WHERE d.id = taken.id`,
      Effect.asVoid,
      Effect.orDie
    )
    /** Ends the next ten thousand that wait: false when there may be more. */
    const cancel = Effect.fn("DueRepo.cancel")(
      (endpointId: EndpointId) => sql`
        WITH open AS (${openOf(endpointId)} ORDER BY id LIMIT ${canceledAtOnce} FOR UPDATE)
        UPDATE webhook_deliveries d SET state = 'canceled', due_at = NULL FROM open WHERE d.id = open.id RETURNING d.id`,
      Effect.map((rows) => rows.length < canceledAtOnce),
      Effect.orDie
    )
    /** The endpoints for which something waits, removed ones too, with their moment: registered ones cost nothing. */
    const waiting = Effect.fn("DueRepo.waiting")(
      SqlSchema.findAll({
        Request: Schema.Void,
        Result: Schema.Struct({
          endpointId: EndpointId,
          dueAt: Schema.DateTimeUtcFromDate,
          pausedUntil: Schema.OptionFromNullOr(Schema.DateTimeUtcFromDate)
        }),
        execute: () => sql`
          WITH RECURSIVE head AS (
            (SELECT endpoint_id, due_at FROM webhook_deliveries WHERE due_at IS NOT NULL
             ORDER BY endpoint_id, due_at, id LIMIT 1)
            UNION ALL
            SELECT next.* FROM head CROSS JOIN LATERAL (
              SELECT endpoint_id, due_at FROM webhook_deliveries WHERE due_at IS NOT NULL AND endpoint_id > head.endpoint_id
              ORDER BY endpoint_id, due_at, id LIMIT 1
            ) AS next
          )
          SELECT head.*, paused_until FROM head LEFT JOIN webhook_endpoints ON webhook_endpoints.id = endpoint_id`
      }),
      Effect.orDie
    )
    /** How many deliveries are due, counted as far as it is cheap. */
    const backlog = Effect.fn("DueRepo.backlog")(
      (now: DateTime.Utc) => sql`
        SELECT count(*)::int AS due FROM (
          SELECT FROM webhook_deliveries WHERE due_at <= ${DateTime.toDateUtc(now)} LIMIT ${countedAtMost}) AS counted`,
      Effect.flatMap(Schema.decodeUnknown(Schema.Tuple(Schema.Struct({ due: Schema.Int })))),
      Effect.map(([{ due }]) => due),
      Effect.orDie
    )
    return { claim, nextDue, release, cancel, waiting, backlog } as const
  })
}) {}
