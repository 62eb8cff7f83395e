import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
import { AppId } from "../catalog/domain/App.ts"
import { StoreName } from "../catalog/domain/Product.ts"

export class AppHistoryRepo extends Effect.Service<AppHistoryRepo>()("gatehouse/subscription/AppHistoryRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const hasCustomers = Effect.fn("AppHistoryRepo.hasCustomers")(
      (appId: AppId) => sql`SELECT 1 FROM customers WHERE app_id = ${appId} LIMIT 1`,
      Effect.map((rows) => rows.length > 0),
      Effect.orDie
    )
    /** Each name once, from one to the next in the index: however often it was sold. */
    const namesIn = (table: "subscriptions" | "transactions", appId: string) => sql`
      WITH RECURSIVE names AS (
        (SELECT store, product_identifier FROM ${sql(table)} WHERE app_id = ${appId} ORDER BY 1, 2 LIMIT 1)
        UNION ALL
        SELECT next.* FROM names CROSS JOIN LATERAL (
          SELECT store, product_identifier FROM ${sql(table)} AS rows
          WHERE rows.app_id = ${appId} AND (rows.store, rows.product_identifier) > (names.store, names.product_identifier)
          ORDER BY 1, 2 LIMIT 1
        ) AS next
      ) SELECT store, product_identifier FROM names`

    /** Whatever was sold, as the stores call it. */
    const sold = Effect.fn("AppHistoryRepo.sold")(
      SqlSchema.findAll({
        Request: AppId,
        Result: Schema.Struct({ store: StoreName, productIdentifier: Schema.String }),
        execute: (appId) => sql`
          (${namesIn("subscriptions", appId)}) UNION (${namesIn("transactions", appId)})`
      }),
      Effect.orDie
    )
    return { hasCustomers, sold } as const
  })
}) {}
