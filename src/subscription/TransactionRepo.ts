import { SqlClient, SqlSchema, type Statement } from "@effect/sql"
import { DateTime, Effect, Option, Schema } from "effect"
import { AppId } from "../catalog/domain/App.ts"
import { StoreName } from "../catalog/domain/Product.ts"
import { Environment, type PurchaseFact, type StoreTransaction } from "../store/domain/PurchaseFact.ts"
import { CustomerId } from "./domain/Customer.ts"
import type { SubscriptionId } from "./domain/Subscription.ts"
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
              refunded_at = excluded.refunded_at, price_micros = excluded.price_micros,
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
    const wanted = (query: typeof TransactionQuery.Encoded, day: Statement.Fragment) => {
      const { appId, appUserId, before, environment, from, limit, productIdentifier, store, to } = query
      return sql`
        SELECT * FROM transactions WHERE app_id = ${appId} ${day}
        AND (${store}::text IS NULL OR store = ${store}::text)
        AND (${productIdentifier}::text IS NULL OR product_identifier = ${productIdentifier}::text)
        AND (${environment}::text IS NULL OR environment = ${environment}::text)
        AND (${from}::timestamptz IS NULL OR purchase_date >= ${from}::timestamptz)
        AND (${to}::timestamptz IS NULL OR purchase_date < ${to}::timestamptz)
        AND (${appUserId}::text IS NULL OR customer_id = (
          SELECT coalesce(merged_into, id) FROM customers WHERE app_id = ${appId} AND app_user_id = ${appUserId}::text))
        AND (${before}::uuid IS NULL OR id < ${before}::uuid)
        ORDER BY id DESC LIMIT ${limit}`
    }

    /** Of each day of the range a page, as the index has it, and of these a page: however many are younger or older. */
    const wantedByDay = (query: typeof TransactionQuery.Encoded) => {
      const bought = sql`FROM transactions WHERE app_id = ${query.appId}`
      return sql`
        SELECT daily.* FROM generate_series(
          (coalesce(${query.from}::timestamptz, (SELECT min(purchase_date) ${bought})) AT TIME ZONE 'UTC')::date,
          (least(${query.to}::timestamptz, (SELECT max(purchase_date) ${bought})) AT TIME ZONE 'UTC')::date,
          interval '1 day'
        ) AS days (day)
        CROSS JOIN LATERAL (${wanted(query, sql`AND (purchase_date AT TIME ZONE 'UTC')::date = days.day::date`)}) AS daily
        ORDER BY daily.id DESC LIMIT ${query.limit}`
    }

    /** Without an end the newest fit a range; with one, the list in its own order would begin with all that do not. */
    const page = Effect.fn("TransactionRepo.page")(
      SqlSchema.findAll({
        Request: TransactionQuery,
        Result: Transaction,
        execute: (query) => sql`
          SELECT listed.*, customers.app_user_id
          FROM (${query.to === null || query.appUserId !== null ? wanted(query, sql``) : wantedByDay(query)}) AS listed
          JOIN customers ON customers.id = listed.customer_id ORDER BY listed.id DESC`
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
    const byIds = Effect.fn("TransactionRepo.byIds")(
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
    return { upsert, once, saveOnce, moveTo, page, byIds, cover } as const
  })
}) {}
