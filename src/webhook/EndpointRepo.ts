import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
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
  isActive: Schema.NullOr(Schema.Boolean)
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
    /** Null keeps a column. Whoever turns an endpoint on or off clears what the system noted. */
    const update = Effect.fn("EndpointRepo.update")(
      SqlSchema.findOne({
        Request: Changes,
        Result: Endpoint,
        execute: ({ events, id, isActive, retryCount, timeoutSeconds, url }) => sql`
          UPDATE webhook_endpoints SET url = coalesce(${url}::text, url), events = coalesce(${events}::text[], events),
            retry_count = coalesce(${retryCount}::int, retry_count),
            timeout_seconds = coalesce(${timeoutSeconds}::int, timeout_seconds),
            is_active = coalesce(${isActive}::bool, is_active),
            disabled_reason = CASE WHEN ${isActive}::bool IS NULL THEN disabled_reason END,
            failing_since = CASE WHEN ${isActive}::bool IS NULL THEN failing_since END
          WHERE id = ${id} RETURNING *`
      }),
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
    return { insert, byId, page, update, replaceSecret, noteFailure, disable, remove, removeOf } as const
  })
}) {}
