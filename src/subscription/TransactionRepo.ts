import { SqlClient, SqlSchema } from "@effect/sql"
import { DateTime, Effect, Option, Schema } from "effect"
import { AppId } from "../catalog/domain/App.ts"
import type { PurchaseFact, StoreTransaction } from "../store/domain/PurchaseFact.ts"
import type { CustomerId } from "./domain/Customer.ts"
import type { SubscriptionId } from "./domain/Subscription.ts"
import { Transaction } from "./domain/Transaction.ts"

const dateOrNull = (moment: Option.Option<DateTime.Utc>) => Option.getOrNull(Option.map(moment, DateTime.toDateUtc))

export class TransactionRepo extends Effect.Service<TransactionRepo>()("gatehouse/subscription/TransactionRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /** Writes the newest word of the store on one transaction; `transaction` may come from a later statement. */
    const upsert = Effect.fn("TransactionRepo.upsert")(
      (row: {
        readonly id: string
        readonly appId: AppId
        readonly customerId: CustomerId
        readonly subscriptionId: SubscriptionId
        readonly fact: PurchaseFact
        readonly transaction: StoreTransaction
        readonly now: DateTime.Utc
      }) => {
        const { fact, transaction } = row
        return sql`
          INSERT INTO transactions ${sql.insert({
            id: row.id,
            appId: row.appId,
            customerId: row.customerId,
            subscriptionId: row.subscriptionId,
            store: fact.store,
            environment: fact.environment,
            storeTransactionId: transaction.transactionId,
            originalTransactionId: fact.originalTransactionId,
            productIdentifier: transaction.productIdentifier,
            periodType: transaction.periodType,
            ownershipType: transaction.ownershipType,
            purchaseDate: DateTime.toDateUtc(transaction.purchaseDate),
            expiresDate: dateOrNull(transaction.expiresDate),
            refundedAt: dateOrNull(transaction.refundedAt),
            priceMicros: Option.getOrNull(transaction.priceMicros),
            currency: Option.getOrNull(transaction.currency),
            createdAt: DateTime.toDateUtc(row.now)
          })}
          ON CONFLICT (app_id, store, environment, store_transaction_id) DO UPDATE SET
            expires_date = excluded.expires_date, refunded_at = excluded.refunded_at,
            price_micros = excluded.price_micros, currency = excluded.currency`
      },
      Effect.asVoid,
      Effect.orDie
    )
    const page = Effect.fn("TransactionRepo.page")(
      SqlSchema.findAll({
        Request: Schema.Struct({ appId: AppId, before: Schema.NullOr(Schema.UUID), limit: Schema.Int }),
        Result: Transaction,
        execute: ({ appId, before, limit }) => sql`
          SELECT transactions.*, customers.app_user_id
          FROM transactions JOIN customers ON customers.id = transactions.customer_id
          WHERE transactions.app_id = ${appId} AND (${before}::uuid IS NULL OR transactions.id < ${before}::uuid)
          ORDER BY transactions.id DESC LIMIT ${limit}`
      }),
      Effect.orDie
    )
    /** Notes until when each period of a chain gave access, by the store's id of its transaction. */
    const cover = Effect.fn("TransactionRepo.cover")(
      (subscriptionId: SubscriptionId, coverage: ReadonlyMap<string, DateTime.Utc>) => sql`
        UPDATE transactions SET covered_until = told.until
        FROM unnest(
          ${[...coverage.keys()]}::text[],
          ${[...coverage.values()].map(DateTime.formatIso)}::timestamptz[]
        ) AS told(id, until)
        WHERE subscription_id = ${subscriptionId} AND store_transaction_id = told.id
        AND covered_until IS DISTINCT FROM told.until`,
      Effect.asVoid,
      Effect.orDie
    )
    return { upsert, page, cover } as const
  })
}) {}
