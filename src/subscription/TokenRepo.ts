import { SqlClient, SqlSchema } from "@effect/sql"
import { DateTime, Effect, Schema } from "effect"
import { AppId } from "../catalog/domain/App.ts"

const PurchaseType = Schema.Literal("subscription", "one_time")
const Moment = Schema.OptionFromNullOr(Schema.DateTimeUtcFromDate)
const Key = Schema.Struct({ appId: AppId, purchaseToken: Schema.String })

/** What is known of a purchase token of store B. `readings` counts the readings that were applied. */
const KnownToken = Schema.Struct({
  type: PurchaseType,
  readings: Schema.Int,
  readAt: Moment,
  originalTransactionId: Schema.OptionFromNullOr(Schema.String),
  startedAt: Moment,
  orderId: Schema.OptionFromNullOr(Schema.String),
  periodStartedAt: Moment,
  replacedBy: Schema.OptionFromNullOr(Schema.String),
  productId: Schema.OptionFromNullOr(Schema.String),
  acknowledgeDueAt: Moment,
  acknowledgedAt: Moment
})
export type KnownToken = typeof KnownToken.Type

const ReadToken = Schema.Struct({
  ...Key.fields,
  type: PurchaseType,
  readAt: Schema.DateTimeUtcFromDate,
  originalTransactionId: Schema.String,
  startedAt: Schema.DateTimeUtcFromDate,
  orderId: Schema.String,
  periodStartedAt: Schema.DateTimeUtcFromDate,
  productId: Schema.OptionFromNullOr(Schema.String),
  acknowledgeDueAt: Moment
})

const Voided = Schema.Struct({ orderId: Schema.String, voidedAt: Schema.DateTimeUtcFromDate })
const DueToken = Schema.Struct({ ...Key.fields, type: PurchaseType, productId: Schema.String })
export type DueToken = typeof DueToken.Type

export class TokenRepo extends Effect.Service<TokenRepo>()("gatehouse/subscription/TokenRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /** Readings of one token are applied one at a time: held until the transaction ends. */
    const lock = Effect.fn("TokenRepo.lock")(
      (appId: AppId, purchaseToken: string) =>
        sql`SELECT pg_advisory_xact_lock(hashtextextended(${`token:${appId}:${purchaseToken}`}, 0))`,
      Effect.asVoid,
      Effect.orDie
    )
    const find = Effect.fn("TokenRepo.find")(
      SqlSchema.findOne({
        Request: Key,
        Result: KnownToken,
        execute: ({ appId, purchaseToken }) =>
          sql`SELECT * FROM store_tokens WHERE app_id = ${appId} AND purchase_token = ${purchaseToken}`
      }),
      Effect.orDie
    )
    /** Counts a reading. What was acknowledged once stays so, and what is due does not move away with each reading. */
    const save = Effect.fn("TokenRepo.save")(
      SqlSchema.void({
        Request: ReadToken,
        execute: (row) => sql`
          INSERT INTO store_tokens ${sql.insert({ ...row, readings: 1 })}
          ON CONFLICT (app_id, purchase_token) DO UPDATE SET
            readings = store_tokens.readings + 1, read_at = excluded.read_at,
            original_transaction_id = excluded.original_transaction_id, started_at = excluded.started_at,
            order_id = excluded.order_id, period_started_at = excluded.period_started_at,
            product_id = excluded.product_id,
            acknowledge_due_at = CASE WHEN excluded.acknowledge_due_at IS NOT NULL
              THEN least(store_tokens.acknowledge_due_at, excluded.acknowledge_due_at) END`
      }),
      Effect.orDie
    )
    /** A purchase that another took the place of; a reading of it that is under way is made again. */
    const retire = Effect.fn("TokenRepo.retire")(
      (appId: AppId, replaced: string, by: string) => sql`
        INSERT INTO store_tokens ${sql.insert({
          appId,
          purchaseToken: replaced,
          type: "subscription",
          readings: 1,
          replacedBy: by
        })}
        ON CONFLICT (app_id, purchase_token) DO UPDATE SET
          replaced_by = excluded.replaced_by, readings = store_tokens.readings + 1
        WHERE store_tokens.replaced_by IS DISTINCT FROM excluded.replaced_by`,
      Effect.asVoid,
      Effect.orDie
    )
    const voided = Effect.fn("TokenRepo.voided")(
      SqlSchema.findAll({
        Request: Key,
        Result: Voided,
        execute: ({ appId, purchaseToken }) => sql`
          SELECT order_id, voided_at FROM store_voided_orders
          WHERE app_id = ${appId} AND purchase_token = ${purchaseToken}`
      }),
      Effect.orDie
    )
    const addVoided = Effect.fn("TokenRepo.addVoided")(
      SqlSchema.void({
        Request: Schema.Struct({ ...Key.fields, ...Voided.fields }),
        execute: (row) => sql`INSERT INTO store_voided_orders ${sql.insert(row)} ON CONFLICT DO NOTHING`
      }),
      Effect.orDie
    )
    const acknowledged = Effect.fn("TokenRepo.acknowledged")(
      (appId: AppId, purchaseToken: string, at: DateTime.Utc) => sql`
        UPDATE store_tokens SET acknowledged_at = ${DateTime.toDateUtc(at)}
        WHERE app_id = ${appId} AND purchase_token = ${purchaseToken}`,
      Effect.asVoid,
      Effect.orDie
    )
    /** The token under which the store knows a chain now. */
    const ofChain = Effect.fn("TokenRepo.ofChain")(
      SqlSchema.findOne({
        Request: Schema.Struct({ appId: AppId, originalTransactionId: Schema.String }),
        Result: Schema.Struct({ purchaseToken: Schema.String }),
        execute: ({ appId, originalTransactionId }) => sql`
          SELECT purchase_token FROM store_tokens WHERE app_id = ${appId} AND replaced_by IS NULL
          AND original_transaction_id = ${originalTransactionId} ORDER BY read_at DESC LIMIT 1`
      }),
      Effect.orDie
    )
    /** Takes what is due for itself: until `retryAt` nobody else gets it. */
    const takeDue = Effect.fn("TokenRepo.takeDue")(
      SqlSchema.findAll({
        Request: Schema.Struct({
          appId: AppId,
          now: Schema.DateTimeUtcFromDate,
          retryAt: Schema.DateTimeUtcFromDate,
          limit: Schema.Int
        }),
        Result: DueToken,
        execute: ({ appId, limit, now, retryAt }) => sql`
          UPDATE store_tokens SET acknowledge_due_at = ${retryAt} FROM (
            SELECT app_id, purchase_token FROM store_tokens
            WHERE app_id = ${appId} AND acknowledge_due_at <= ${now} AND acknowledged_at IS NULL AND product_id IS NOT NULL
            ORDER BY acknowledge_due_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
          ) AS due
          WHERE store_tokens.app_id = due.app_id AND store_tokens.purchase_token = due.purchase_token
          RETURNING store_tokens.app_id, store_tokens.purchase_token, store_tokens.type, store_tokens.product_id`
      }),
      Effect.orDie
    )
    return { lock, find, ofChain, save, retire, voided, addVoided, acknowledged, takeDue } as const
  })
}) {}
