import { SqlClient, SqlSchema } from "@effect/sql"
import { DateTime, Effect, Schema } from "effect"
import { AppId } from "../catalog/domain/App.ts"
import { StoreName } from "../catalog/domain/Product.ts"
import { Environment } from "../store/domain/PurchaseFact.ts"
import { CustomerId } from "./domain/Customer.ts"
import { Transaction } from "./domain/Transaction.ts"

/** The ledger as purchases write it. What is listed of it is in `TransactionListRepo`. */
export class TransactionRepo extends Effect.Service<TransactionRepo>()("gatehouse/subscription/TransactionRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const once = Effect.fn("TransactionRepo.once")(
      SqlSchema.findOne({
        Request: Schema.Struct({
          appId: AppId,
          store: StoreName,
          environment: Environment,
          storeTransactionId: Schema.String
        }),
        Result: Schema.Struct({ id: Schema.UUID, customerId: CustomerId }),
        execute: ({ appId, environment, store, storeTransactionId }) => sql`
          SELECT id, customer_id FROM transactions WHERE app_id = ${appId} AND store = ${store}
          AND environment = ${environment} AND store_transaction_id = ${storeTransactionId}`
      }),
      Effect.orDie
    )
    /** A purchase without subscription: an older word of the store never overwrites a newer one. */
    const saveOnce = Effect.fn("TransactionRepo.saveOnce")(
      (row: {
        readonly appId: AppId
        readonly customerId: CustomerId
        readonly transaction: Transaction
        readonly signedAt: DateTime.Utc
        readonly now: DateTime.Utc
      }) =>
        Effect.flatMap(
          Schema.encode(Transaction)(row.transaction),
          ({ appUserId: _, ...columns }) => sql`
            INSERT INTO transactions ${sql.insert({
              ...columns,
              appId: row.appId,
              customerId: row.customerId,
              signedAt: DateTime.toDateUtc(row.signedAt),
              createdAt: DateTime.toDateUtc(row.now)
            })}
            ON CONFLICT (app_id, store, environment, store_transaction_id) DO UPDATE SET
              expires_date = excluded.expires_date, refunded_at = excluded.refunded_at,
              refunded_micros = excluded.refunded_micros, price_micros = excluded.price_micros,
              currency = excluded.currency, signed_at = excluded.signed_at
            WHERE transactions.signed_at < excluded.signed_at`
        ),
      Effect.asVoid,
      Effect.orDie
    )
    const moveTo = Effect.fn("TransactionRepo.moveTo")(
      (id: string, customerId: CustomerId) => sql`UPDATE transactions SET customer_id = ${customerId} WHERE id = ${id}`,
      Effect.asVoid,
      Effect.orDie
    )
    return { once, saveOnce, moveTo } as const
  })
}) {}
