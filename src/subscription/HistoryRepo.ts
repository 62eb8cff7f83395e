import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
import { CustomerId } from "./domain/Customer.ts"

const Entry = Schema.Struct({
  kind: Schema.Literal("purchase", "event", "delivery"),
  id: Schema.UUID,
  createdAt: Schema.DateTimeUtcFromDate
})

export class HistoryRepo extends Effect.Service<HistoryRepo>()("gatehouse/subscription/HistoryRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /** Where everything about one customer is, newest first: ids sort by the time of recording, whatever the kind. */
    const page = Effect.fn("HistoryRepo.page")(
      SqlSchema.findAll({
        Request: Schema.Struct({ customerId: CustomerId, before: Schema.NullOr(Schema.UUID), limit: Schema.Int }),
        Result: Entry,
        execute: ({ before, customerId, limit }) => sql`
          WITH told AS (
            SELECT domain_events.id, domain_events.created_at FROM customers named
            JOIN domain_events ON domain_events.app_id = named.app_id AND domain_events.app_user_id = named.app_user_id
            WHERE named.id = ${customerId} OR named.merged_into = ${customerId}
          )
          SELECT kind, id, created_at FROM (
            (SELECT 'purchase' AS kind, id, created_at FROM transactions WHERE customer_id = ${customerId}
              AND (${before}::uuid IS NULL OR id < ${before}::uuid) ORDER BY id DESC LIMIT ${limit})
            UNION ALL
            (SELECT 'event', id, created_at FROM told
              WHERE ${before}::uuid IS NULL OR id < ${before}::uuid ORDER BY id DESC LIMIT ${limit})
            UNION ALL
            (SELECT 'delivery', webhook_deliveries.id, webhook_deliveries.created_at
              FROM told JOIN webhook_deliveries ON webhook_deliveries.event_id = told.id
              WHERE ${before}::uuid IS NULL OR webhook_deliveries.id < ${before}::uuid
              ORDER BY webhook_deliveries.id DESC LIMIT ${limit})
          ) AS timeline ORDER BY id DESC LIMIT ${limit}`
      }),
      Effect.orDie
    )
    return { page } as const
  })
}) {}
