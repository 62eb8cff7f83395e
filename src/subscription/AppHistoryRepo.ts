import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import type { AppId } from "../catalog/domain/App.ts"
import type { StoreName } from "../catalog/domain/Product.ts"

export class AppHistoryRepo extends Effect.Service<AppHistoryRepo>()("gatehouse/subscription/AppHistoryRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const hasCustomers = Effect.fn("AppHistoryRepo.hasCustomers")(
      (appId: AppId) => sql`SELECT 1 FROM customers WHERE app_id = ${appId} LIMIT 1`,
      Effect.map((rows) => rows.length > 0),
      Effect.orDie
    )
    const isBought = Effect.fn("AppHistoryRepo.isBought")(
      (appId: AppId, products: ReadonlyArray<{ readonly store: StoreName; readonly identifier: string }>) => {
        const bought = (table: string) => sql`
          SELECT 1 FROM ${sql(table)} bought JOIN wanted
          ON bought.app_id = ${appId} AND bought.store = wanted.store AND bought.product_identifier = wanted.identifier`
        return sql`
          WITH wanted AS (
            SELECT * FROM unnest(${products.map(({ store }) => store)}::text[],
              ${products.map(({ identifier }) => identifier)}::text[]) AS w (store, identifier)
          )
          (${bought("subscriptions")} LIMIT 1) UNION ALL (${bought("transactions")} LIMIT 1)`
      },
      Effect.map((rows) => rows.length > 0),
      Effect.orDie
    )
    return { hasCustomers, isBought } as const
  })
}) {}
