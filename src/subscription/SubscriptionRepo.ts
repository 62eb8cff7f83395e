import { SqlClient, SqlSchema } from "@effect/sql"
import { DateTime, Effect, Schema } from "effect"
import { AppId } from "../catalog/domain/App.ts"
import { StoreName } from "../catalog/domain/Product.ts"
import { Environment, PurchaseFact } from "../store/domain/PurchaseFact.ts"
import { StoredSubscription } from "./domain/Access.ts"
import { AppUserId, CustomerId } from "./domain/Customer.ts"
import { SubscriptionId, SubscriptionStatus } from "./domain/Subscription.ts"

const SubscriptionRow = Schema.Struct({ id: SubscriptionId, customerId: CustomerId })
const ListedSubscription = Schema.Struct({ id: SubscriptionId, appUserId: AppUserId, state: StoredSubscription })
const SubscriptionQuery = Schema.Struct({
  appId: AppId,
  status: Schema.NullOr(SubscriptionStatus),
  store: Schema.NullOr(StoreName),
  productIdentifier: Schema.NullOr(Schema.String),
  environment: Schema.NullOr(Environment),
  appUserId: Schema.NullOr(Schema.String),
  before: Schema.NullOr(Schema.UUID),
  limit: Schema.Int
})

export type ListedSubscription = typeof ListedSubscription.Type
export type SubscriptionQuery = typeof SubscriptionQuery.Type

const encodeFact = Schema.encode(Schema.parseJson(PurchaseFact))

export class SubscriptionRepo extends Effect.Service<SubscriptionRepo>()("gatehouse/subscription/SubscriptionRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /** Statements about one purchase chain are applied one at a time: held until the transaction ends. */
    const lockChain = Effect.fn("SubscriptionRepo.lockChain")(
      (appId: AppId, fact: PurchaseFact) =>
        sql`/* prepared: chain_lock */ SELECT pg_advisory_xact_lock(hashtextextended(${`${appId}:${fact.store}:${fact.originalTransactionId}`}, 0))`,
      Effect.asVoid,
      Effect.orDie
    )
    const ofChain = Effect.fn("SubscriptionRepo.ofChain")(
      SqlSchema.findOne({
        Request: Schema.Struct({
          appId: AppId,
          store: Schema.String,
          environment: Schema.String,
          originalTransactionId: Schema.String
        }),
        Result: SubscriptionRow,
        execute: ({ appId, environment, originalTransactionId, store }) => sql`/* prepared: chain_find */
          SELECT id, customer_id FROM subscriptions WHERE app_id = ${appId} AND store = ${store}
          AND environment = ${environment} AND original_transaction_id = ${originalTransactionId}`
      }),
      Effect.orDie
    )
    /** The chain with its whole ledger. */
    const moveTo = Effect.fn("SubscriptionRepo.moveTo")(function* (id: SubscriptionId, customerId: CustomerId) {
      yield* sql`UPDATE subscriptions SET customer_id = ${customerId} WHERE id = ${id}`
      yield* sql`UPDATE transactions SET customer_id = ${customerId} WHERE subscription_id = ${id}`
    }, Effect.orDie)

    const rowOf = (subscriptionId: SubscriptionId, fact: PurchaseFact) =>
      Effect.map(encodeFact(fact), (encoded) => ({
        subscriptionId,
        factId: fact.factId,
        signedAt: DateTime.toDateUtc(fact.signedAt),
        fact: encoded
      }))

    const insertFact = Effect.fn("SubscriptionRepo.insertFact")(function* (id: SubscriptionId, fact: PurchaseFact) {
      yield* sql`/* prepared: fact_insert */ INSERT INTO store_facts ${sql.insert(yield* rowOf(id, fact))}`
    }, Effect.orDie)

    /** Keeps a statement in the place of another one. */
    const replaceFact = Effect.fn("SubscriptionRepo.replaceFact")(function* (
      id: SubscriptionId,
      old: string,
      fact: PurchaseFact
    ) {
      const { subscriptionId: _, ...columns } = yield* rowOf(id, fact)
      yield* sql`UPDATE store_facts SET ${sql.update(columns)} WHERE subscription_id = ${id} AND fact_id = ${old}`
    }, Effect.orDie)

    /** Empties the notification that brought the statement: its signed words carry the account token. */
    const forgetWords = Effect.fn("SubscriptionRepo.forgetWords")(
      (appId: AppId, { factId, store }: PurchaseFact) => sql`
        UPDATE store_notifications SET payload = ''
        WHERE app_id = ${appId} AND store = ${store} AND notification_id = ${factId}`,
      Effect.asVoid,
      Effect.orDie
    )
    const facts = Effect.fn("SubscriptionRepo.facts")(
      SqlSchema.findAll({
        Request: SubscriptionId,
        Result: Schema.Struct({ fact: PurchaseFact }),
        execute: (id) => sql`/* prepared: facts_find */ SELECT fact FROM store_facts WHERE subscription_id = ${id}`
      }),
      Effect.orDie
    )
    const page = Effect.fn("SubscriptionRepo.page")(
      SqlSchema.findAll({
        Request: SubscriptionQuery,
        Result: ListedSubscription,
        execute: ({ appId, appUserId, before, environment, limit, productIdentifier, status, store }) => sql`
          SELECT subscriptions.id, customers.app_user_id, subscriptions.state
          FROM subscriptions JOIN customers ON customers.id = subscriptions.customer_id
          WHERE subscriptions.app_id = ${appId}
          AND (${status}::text IS NULL OR subscriptions.status = ${status}::text)
          AND (${store}::text IS NULL OR subscriptions.store = ${store}::text)
          AND (${productIdentifier}::text IS NULL OR subscriptions.product_identifier = ${productIdentifier}::text)
          AND (${environment}::text IS NULL OR subscriptions.environment = ${environment}::text)
          AND (${appUserId}::text IS NULL OR subscriptions.customer_id = (
            SELECT coalesce(merged_into, id) FROM customers WHERE app_id = ${appId} AND app_user_id = ${appUserId}::text))
          AND (${before}::uuid IS NULL OR subscriptions.id < ${before}::uuid)
          ORDER BY subscriptions.id DESC LIMIT ${limit}`
      }),
      Effect.orDie
    )
    return { lockChain, ofChain, moveTo, insertFact, replaceFact, forgetWords, facts, page } as const
  })
}) {}
