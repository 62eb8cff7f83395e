import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
import { AppId } from "../catalog/domain/App.ts"
import { ListedCustomer } from "./domain/ListedCustomer.ts"
import { heldColumn } from "./SubscriberColumns.ts"

const wildcards = /[\\%_]/g

export class CustomerListRepo extends Effect.Service<CustomerListRepo>()("gatehouse/subscription/CustomerListRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const named = (appId: string, search: string) => {
      const pattern = `${search.replace(wildcards, "\\$&")}%`
      return sql`AND customers.id IN (
        SELECT coalesce(found.merged_into, found.id) FROM customers found
        WHERE found.app_id = ${appId} AND lower(found.app_user_id) LIKE lower(${pattern}))`
    }

    /** Customers newest first, with all that they hold and what they paid, in one statement. */
    const page = Effect.fn("CustomerListRepo.page")(
      SqlSchema.findAll({
        Request: Schema.Struct({
          appId: AppId,
          search: Schema.NullOr(Schema.String),
          before: Schema.NullOr(Schema.UUID),
          limit: Schema.Int
        }),
        Result: ListedCustomer,
        execute: ({ appId, before, limit, search }) => sql`
          SELECT customers.id, customers.app_user_id, customers.is_anonymous, customers.first_seen, customers.last_seen,
            ${sql.literal(heldColumn)},
            coalesce((
              SELECT jsonb_object_agg(paid.currency, paid.micros) FROM (
                SELECT currency, sum(price_micros) AS micros FROM transactions
                WHERE customer_id = customers.id AND environment = 'production' AND ownership_type = 'purchased'
                  AND refunded_at IS NULL AND currency IS NOT NULL AND price_micros IS NOT NULL
                GROUP BY currency
              ) paid
            ), '{}') AS spent_micros
          FROM customers
          WHERE customers.app_id = ${appId} AND customers.merged_into IS NULL AND customers.erased_at IS NULL
          ${search === null ? sql`` : named(appId, search)}
          AND (${before}::uuid IS NULL OR customers.id < ${before}::uuid) ORDER BY customers.id DESC LIMIT ${limit}`
      }),
      Effect.orDie
    )
    return { page } as const
  })
}) {}
