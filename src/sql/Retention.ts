import { SqlClient } from "@effect/sql"
import { DateTime, Duration, Effect, Layer, Schedule } from "effect"
import { firstIdAt } from "../kit/Id.ts"
import { supervise } from "../kit/Supervise.ts"

const batch = 1000

/**
 * Deletes what is older than the retention and finished, in small batches, so that no statement holds locks for long.
 * Answers how many rows went. What still waits (a due delivery, an unapplied notification, an open reply) stays. Ids are
 * made within moments of the row's time: the oldest are where the primary key begins, and nothing younger is looked at.
 */
export const prune = Effect.fn("Retention.prune")(function* (before: DateTime.Utc) {
  const sql = yield* SqlClient.SqlClient
  const limit = DateTime.toDateUtc(before)
  const end = firstIdAt(DateTime.add(before, { minutes: 1 }))
  const oldest = sql`id < ${end}::uuid`
  const next = sql`ORDER BY id LIMIT ${batch}`
  const statements = [
    sql`
      WITH old AS (
        DELETE FROM webhook_deliveries WHERE id IN (
          SELECT id FROM webhook_deliveries WHERE ${oldest} AND created_at < ${limit} AND due_at IS NULL ${next}) RETURNING id
      ), attempts AS (DELETE FROM webhook_attempts WHERE delivery_id IN (SELECT id FROM old))
      SELECT id FROM old`,
    sql`
      DELETE FROM webhook_events WHERE id IN (
        SELECT id FROM webhook_events WHERE ${oldest} AND created_at < ${limit}
        AND NOT EXISTS (SELECT 1 FROM webhook_deliveries WHERE event_id = webhook_events.id) ${next}) RETURNING id`,
    sql`
      DELETE FROM ai_logs WHERE id IN (
        SELECT id FROM ai_logs WHERE ${oldest} AND created_at < ${limit} AND status NOT IN ('pending', 'generated') ${next})
      RETURNING id`,
    sql`
      DELETE FROM store_notifications WHERE id IN (
        SELECT id FROM store_notifications WHERE ${oldest} AND received_at < ${limit} AND state <> 'pending' ${next}) RETURNING id`
  ]
  const gone = yield* Effect.forEach(statements, (statement) => Effect.map(statement, (rows) => rows.length))
  return gone.reduce((sum, count) => sum + count, 0)
})

/** Deletes what has lost its use by age, whatever the retention: it was never history. */
export const expire = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DELETE FROM revoked_operator_tokens WHERE expires_at < now()`
  yield* sql`DELETE FROM idempotency_keys WHERE created_at < now() - interval '24 hours'`
}).pipe(Effect.withSpan("Retention.expire"))

/** Prunes every hour; 0 days keep all history. */
export const layer = (days: number) => {
  const pruned = DateTime.now.pipe(
    Effect.map((now) => DateTime.subtractDuration(now, Duration.days(days))),
    Effect.flatMap((before) => Effect.repeat(prune(before), { while: (gone) => gone > 0 }))
  )
  const turn = days === 0 ? expire : Effect.zipRight(expire, pruned)
  return Layer.scopedDiscard(
    Effect.forkScoped(supervise("Retention", Effect.repeat(turn, Schedule.jittered(Schedule.spaced("1 hour")))))
  )
}
