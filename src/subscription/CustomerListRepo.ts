import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
import { AppId } from "../catalog/domain/App.ts"
import { ListedCustomer } from "./domain/ListedCustomer.ts"
import { heldColumn } from "./SubscriberColumns.ts"

const wildcards = /[\\%_]/g

export class CustomerListRepo extends Effect.Service<CustomerListRepo>()("gatehouse/subscription/CustomerListRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const listed = (appId: string, before: string | null, limit: number) => sql`
      app_id = ${appId} AND merged_into IS NULL AND erased_at IS NULL
      AND (${before}::uuid IS NULL OR id < ${before}::uuid) ORDER BY id DESC LIMIT ${limit}`

    /**
     * A page of those who bear such a name and a page of those who bore one before a merge, each in the list's order, so
     * that the database may walk the list for a common beginning and look up a rare one.
     */
    const named = (appId: string, search: string, before: string | null, limit: number) => {
      const pattern = `${search.replace(wildcards, "\\$&")}%`
      return sql`
        (SELECT id FROM customers WHERE lower(app_user_id) LIKE lower(${pattern}) AND ${listed(appId, before, limit)})
        UNION
        (SELECT DISTINCT merged_into FROM customers
          WHERE app_id = ${appId} AND merged_into IS NOT NULL AND lower(app_user_id) LIKE lower(${pattern})
          AND (${before}::uuid IS NULL OR merged_into < ${before}::uuid) ORDER BY merged_into DESC LIMIT ${limit})
        ORDER BY id DESC LIMIT ${limit}`
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
                SELECT currency, sum(price_micros - coalesce(refunded_micros, 0)) AS micros FROM transactions
                WHERE customer_id = customers.id AND environment = 'production' AND ownership_type = 'purchased'
                  AND refunded_at IS NULL AND currency IS NOT NULL AND price_micros IS NOT NULL
                GROUP BY currency
              ) paid
            ), '{}') AS spent_micros
          FROM customers WHERE customers.id IN (
            ${search === null ? sql`SELECT id FROM customers WHERE ${listed(appId, before, limit)}` : named(appId, search, before, limit)}
          ) ORDER BY customers.id DESC`
      }),
      Effect.orDie
    )
    return { page } as const
  })
}) {}
