import { SqlClient, SqlSchema } from "@effect/sql"
import { DateTime, Effect, Option, Schema } from "effect"
import type { Circuit } from "./domain/Circuit.ts"
import { Endpoint } from "./domain/Endpoint.ts"
import { EndpointId } from "./domain/Webhook.ts"

const EndpointRow = Schema.Struct({ ...Endpoint.fields, secretSealed: Schema.String })

/** A replaced secret signs along until its time is over. */
const KeyedRow = Schema.Struct({
  ...EndpointRow.fields,
  previousSecretSealed: Schema.OptionFromNullOr(Schema.String),
  previousSecretUntil: Schema.OptionFromNullOr(Schema.DateTimeUtcFromDate)
})

const Changes = Schema.Struct({
  id: EndpointId,
  url: Schema.NullOr(Schema.String),
  events: Schema.NullOr(Schema.Array(Schema.String)),
  retryCount: Schema.NullOr(Schema.Int),
  timeoutSeconds: Schema.NullOr(Schema.Int),
  isActive: Schema.NullOr(Schema.Boolean),
  isOrdered: Schema.NullOr(Schema.Boolean),
  /** Null lifts it; none keeps it. */
  maxPerSecond: Schema.OptionFromSelf(Schema.NullOr(Schema.Int))
})

export class EndpointRepo extends Effect.Service<EndpointRepo>()("gatehouse/webhook/EndpointRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const insert = Effect.fn("EndpointRepo.insert")(
      SqlSchema.void({
        Request: EndpointRow,
        execute: (row) => sql`INSERT INTO webhook_endpoints ${sql.insert(row)}`
      }),
      Effect.orDie
    )
    const byId = Effect.fn("EndpointRepo.byId")(
      SqlSchema.findOne({
        Request: EndpointId,
        Result: KeyedRow,
        execute: (id) => sql`SELECT * FROM webhook_endpoints WHERE id = ${id}`
      }),
      Effect.orDie
    )
    const page = Effect.fn("EndpointRepo.page")(
      SqlSchema.findAll({
        Request: Schema.Struct({ ownerId: Schema.UUID, before: Schema.NullOr(Schema.UUID), limit: Schema.Int }),
        Result: Endpoint,
        execute: ({ before, limit, ownerId }) => sql`
          SELECT * FROM webhook_endpoints WHERE owner_id = ${ownerId}
          AND (${before}::uuid IS NULL OR id < ${before}::uuid) ORDER BY id DESC LIMIT ${limit}`
      }),
      Effect.orDie
    )
    /** Null keeps a column. Whoever turns an endpoint on or off, or moves it, clears what the system noted. */
    const update = Effect.fn("EndpointRepo.update")(
      SqlSchema.findOne({
        Request: Schema.typeSchema(Changes),
        Result: Endpoint,
        execute: ({ events, id, isActive, isOrdered, maxPerSecond, retryCount, timeoutSeconds, url }) => {
          const isKept = sql`(${isActive}::bool IS NULL AND coalesce(${url}::text, url) = url)`
          return sql`
            UPDATE webhook_endpoints SET url = coalesce(${url}::text, url), events = coalesce(${events}::text[], events),
              retry_count = coalesce(${retryCount}::int, retry_count),
              timeout_seconds = coalesce(${timeoutSeconds}::int, timeout_seconds),
              is_active = coalesce(${isActive}::bool, is_active), is_ordered = coalesce(${isOrdered}::bool, is_ordered),
              max_per_second = CASE WHEN ${Option.isNone(maxPerSecond)} THEN max_per_second
                ELSE ${Option.getOrNull(maxPerSecond)}::int END,
              disabled_reason = CASE WHEN ${isActive}::bool IS NULL THEN disabled_reason END,
              failing_since = CASE WHEN ${isKept} THEN failing_since END,
              paused_until = CASE WHEN ${isKept} THEN paused_until END, pauses = CASE WHEN ${isKept} THEN pauses ELSE 0 END
            WHERE id = ${id} RETURNING *`
        }
      }),
      Effect.orDie
    )
    /** Gives what waits for an endpoint the order that it now keeps. */
    const order = Effect.fn("EndpointRepo.order")(
      (id: EndpointId, isOrdered: boolean) => sql`
        UPDATE webhook_deliveries d SET order_key = CASE WHEN ${isOrdered} THEN coalesce(e.order_key, '') END
        FROM webhook_events e WHERE e.id = d.event_id AND d.endpoint_id = ${id} AND d.due_at IS NOT NULL`,
      Effect.asVoid,
      Effect.orDie
    )
    /** Opens the circuit until then, or closes it. */
    const pause = Effect.fn("EndpointRepo.pause")(
      (id: EndpointId, { pauses, until }: Circuit) => sql`
        UPDATE webhook_endpoints SET pauses = ${pauses},
          paused_until = ${Option.getOrNull(Option.map(until, DateTime.toDateUtc))} WHERE id = ${id}`,
      Effect.asVoid,
      Effect.orDie
    )
    /** An open circuit lets one delivery try now. */
    const probe = Effect.fn("EndpointRepo.probe")(
      (id: EndpointId, now: DateTime.Utc) => sql`
        UPDATE webhook_endpoints SET paused_until = ${DateTime.toDateUtc(now)}
        WHERE id = ${id} AND paused_until > ${DateTime.toDateUtc(now)}`,
      Effect.asVoid,
      Effect.orDie
    )
    /** The secret that was in use becomes the previous one. */
    const replaceSecret = Effect.fn("EndpointRepo.replaceSecret")(
      SqlSchema.findOne({
        Request: Schema.Struct({ id: EndpointId, secretSealed: Schema.String, until: Schema.DateTimeUtcFromDate }),
        Result: Endpoint,
        execute: ({ id, secretSealed, until }) => sql`
          UPDATE webhook_endpoints SET secret_sealed = ${secretSealed},
            previous_secret_sealed = secret_sealed, previous_secret_until = ${until}
          WHERE id = ${id} RETURNING *`
      }),
      Effect.orDie
    )
    /** Answers since when it has been failing. */
    const noteFailure = Effect.fn("EndpointRepo.noteFailure")(
      SqlSchema.findOne({
        Request: Schema.Struct({ id: EndpointId, now: Schema.DateTimeUtcFromDate }),
        Result: Schema.Struct({ failingSince: Schema.DateTimeUtcFromDate }),
        execute: ({ id, now }) => sql`
          UPDATE webhook_endpoints SET failing_since = coalesce(failing_since, ${now})
          WHERE id = ${id} RETURNING failing_since`
      }),
      Effect.orDie
    )
    const disable = Effect.fn("EndpointRepo.disable")(
      (id: EndpointId, reason: string) =>
        sql`UPDATE webhook_endpoints SET is_active = false, disabled_reason = ${reason} WHERE id = ${id} AND is_active`,
      Effect.asVoid,
      Effect.orDie
    )
    const remove = Effect.fn("EndpointRepo.remove")(
      (id: EndpointId) => sql`DELETE FROM webhook_endpoints WHERE id = ${id} RETURNING id`,
      Effect.map((rows) => rows.length === 1),
      Effect.orDie
    )
    const removeOf = Effect.fn("EndpointRepo.removeOf")(
      SqlSchema.findAll({
        Request: Schema.UUID,
        Result: Schema.Struct({ id: EndpointId }),
        execute: (ownerId) => sql`DELETE FROM webhook_endpoints WHERE owner_id = ${ownerId} RETURNING id`
      }),
      Effect.orDie
    )
    return {
      insert,
      byId,
      page,
      update,
      order,
      pause,
      probe,
      replaceSecret,
      noteFailure,
      disable,
      remove,
      removeOf
    } as const
  })
}) {}
