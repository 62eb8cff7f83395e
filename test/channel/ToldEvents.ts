import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Layer, Schema } from "effect"
import { Outbox } from "../../src/webhook/Outbox.ts"

const Told = Schema.Struct({ event: Schema.String, data: Schema.Record({ key: Schema.String, value: Schema.Unknown }) })

/** An outbox that keeps what it was told in a table of its own, so that a transaction that fails takes it back. */
export const layer = Layer.effect(
  Outbox,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`
      CREATE TABLE IF NOT EXISTS told_events (
        position bigint GENERATED ALWAYS AS IDENTITY, id uuid, owner_id uuid, event text, data jsonb)`
    return Outbox.of({
      transaction: sql.withTransaction,
      publish: (events) =>
        Effect.forEach(
          events,
          ({ data, event, eventId, owner }) => sql`
            INSERT INTO told_events (id, owner_id, event, data)
            VALUES (${eventId}, ${owner.id}, ${event}, ${JSON.stringify(data)}::jsonb)`,
          { discard: true }
        ).pipe(Effect.orDie),
      isHeard: () => "true",
      wake: () => Effect.void
    })
  })
)

/** What was told of an account, in order. */
export const told = (accountId: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    SqlSchema.findAll({
      Request: Schema.String,
      Result: Told,
      execute: (id) => sql`SELECT event, data FROM told_events WHERE owner_id = ${id} ORDER BY position`
    })(accountId)
  )
