import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
import { Endpoint } from "./domain/Endpoint.ts"
import { EndpointId } from "./domain/Webhook.ts"

const EndpointRow = Schema.Struct({ ...Endpoint.fields, secretSealed: Schema.String })

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
        Result: EndpointRow,
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
    const activeOf = Effect.fn("EndpointRepo.activeOf")(
      SqlSchema.findAll({
        Request: Schema.Array(Schema.String),
        Result: Schema.Struct({ id: EndpointId, ownerId: Schema.UUID, events: Schema.Array(Schema.String) }),
        execute: (ownerIds) => sql`
          SELECT id, owner_id, events FROM webhook_endpoints
          WHERE is_active AND owner_id = ANY(${ownerIds}::uuid[]) ORDER BY id`
      }),
      Effect.orDie
    )
    const disable = Effect.fn("EndpointRepo.disable")(
      (id: EndpointId, reason: string) =>
        sql`UPDATE webhook_endpoints SET is_active = false, disabled_reason = ${reason} WHERE id = ${id}`,
      Effect.asVoid,
      Effect.orDie
    )
    const remove = Effect.fn("EndpointRepo.remove")(
      (id: EndpointId) => sql`DELETE FROM webhook_endpoints WHERE id = ${id} RETURNING id`,
      Effect.map((rows) => rows.length === 1),
      Effect.orDie
    )
    return { insert, byId, page, activeOf, disable, remove } as const
  })
}) {}
