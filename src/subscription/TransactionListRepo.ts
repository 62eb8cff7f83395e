import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
import { AppId } from "../catalog/domain/App.ts"
import { StoreName } from "../catalog/domain/Product.ts"
import { Environment } from "../store/domain/PurchaseFact.ts"
import { Transaction } from "./domain/Transaction.ts"

const TransactionQuery = Schema.Struct({
  appId: AppId,
  store: Schema.NullOr(StoreName),
  productIdentifier: Schema.NullOr(Schema.String),
  environment: Schema.NullOr(Environment),
  appUserId: Schema.NullOr(Schema.String),
  from: Schema.NullOr(Schema.DateTimeUtcFromDate),
  to: Schema.NullOr(Schema.DateTimeUtcFromDate),
  before: Schema.NullOr(Schema.UUID),
  limit: Schema.Int
})

export type TransactionQuery = typeof TransactionQuery.Type

export class TransactionListRepo extends Effect.Service<TransactionListRepo>()(
  "gatehouse/subscription/TransactionListRepo",
  {
    effect: Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      /**
       * In the order of the purchases: a range of days is one stretch of the index, wherever it lies. A purchase date never
       * changes and no row goes while its app is there, so the id of the last row says where the next page begins.
       */
      const page = Effect.fn("TransactionListRepo.page")(
        SqlSchema.findAll({
          Request: TransactionQuery,
          Result: Transaction,
          execute: ({ appId, appUserId, before, environment, from, limit, productIdentifier, store, to }) => sql`
            SELECT listed.*, customers.app_user_id FROM (
              SELECT * FROM transactions WHERE app_id = ${appId}
              AND (${store}::text IS NULL OR store = ${store}::text)
              AND (${productIdentifier}::text IS NULL OR product_identifier = ${productIdentifier}::text)
              AND (${environment}::text IS NULL OR environment = ${environment}::text)
              AND (${from}::timestamptz IS NULL OR purchase_date >= ${from}::timestamptz)
              AND (${to}::timestamptz IS NULL OR purchase_date < ${to}::timestamptz)
              AND (${appUserId}::text IS NULL OR customer_id = (
                SELECT coalesce(merged_into, id) FROM customers WHERE app_id = ${appId} AND app_user_id = ${appUserId}::text))
              AND (${before}::uuid IS NULL OR (purchase_date, id)
                < ((SELECT purchase_date FROM transactions WHERE id = ${before}::uuid), ${before}::uuid))
              ORDER BY purchase_date DESC, id DESC LIMIT ${limit}
            ) AS listed
            JOIN customers ON customers.id = listed.customer_id ORDER BY listed.purchase_date DESC, listed.id DESC`
        }),
        Effect.orDie
      )
      const byIds = Effect.fn("TransactionListRepo.byIds")(
        SqlSchema.findAll({
          Request: Schema.Array(Schema.String),
          Result: Transaction,
          execute: (ids) => sql`
            SELECT transactions.*, customers.app_user_id
            FROM transactions JOIN customers ON customers.id = transactions.customer_id
            WHERE transactions.id = ANY(${ids})`
        }),
        Effect.orDie
      )
      return { page, byIds } as const
    })
  }
) {}
