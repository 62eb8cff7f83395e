import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
import { AppId } from "../catalog/domain/App.ts"
import { StoreName } from "../catalog/domain/Product.ts"
import { Environment } from "../store/domain/PurchaseFact.ts"

/** `at`: the moment that the range's end is seen from, its end or now, whichever is earlier. */
export const StatsQuery = Schema.Struct({
  appId: AppId,
  environment: Environment,
  from: Schema.DateTimeUtcFromDate,
  until: Schema.DateTimeUtcFromDate,
  at: Schema.DateTimeUtcFromDate,
  now: Schema.DateTimeUtcFromDate
})
export type StatsQuery = typeof StatsQuery.Type

const takings = { currency: Schema.String, grossMicros: Schema.Int, refundMicros: Schema.Int }
const productName = { store: StoreName, productIdentifier: Schema.String }

const TakingsOfDay = Schema.Struct({
  ...takings,
  day: Schema.String,
  store: Schema.Null,
  productIdentifier: Schema.Null
})
const TakingsOfProduct = Schema.Struct({ ...takings, ...productName, day: Schema.Null })
export const Takings = Schema.Union(TakingsOfDay, TakingsOfProduct)

const RunningPeriods = Schema.Struct({
  ...productName,
  isTrial: Schema.Boolean,
  currency: Schema.NullOr(Schema.String),
  priceMicros: Schema.NullOr(Schema.Int),
  subscriptionPeriod: Schema.OptionFromNullOr(Schema.String),
  days: Schema.Int,
  count: Schema.Int
})

/**
 * The sums behind an app's figures. A moment sees the periods that began before it and last until it or longer, so a
 * range of half-open days counts each beginning and each end once. Family-shared periods never count.
 */
export class StatsRepo extends Effect.Service<StatsRepo>()("gatehouse/subscription/StatsRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const bought = ({ appId, environment }: typeof StatsQuery.Encoded, rows: string) =>
      sql`${sql(rows)}.app_id = ${appId} AND ${sql(rows)}.environment = ${environment}
        AND ${sql(rows)}.ownership_type = 'purchased'`

    const utcDay = (column: string) => sql`(${sql(column)} AT TIME ZONE 'UTC')::date`
    const dayText = sql`to_char(day, 'YYYY-MM-DD') AS day`

    /** Every sum of one call sees the same moment of the ledger. */
    const snapshot = sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`.pipe(Effect.asVoid, Effect.orDie)

    const customers = Effect.fn("StatsRepo.customers")(
      SqlSchema.single({
        Request: StatsQuery,
        Result: Schema.Struct({ customers: Schema.Int, newCustomers: Schema.Int }),
        execute: ({ appId, from, until }) => sql`
          SELECT count(*) AS customers, count(*) FILTER (WHERE first_seen >= ${from}) AS new_customers
          FROM customers WHERE app_id = ${appId} AND first_seen < ${until} AND merged_into IS NULL`
      }),
      Effect.orDie
    )

    const troubled = Effect.fn("StatsRepo.troubled")(
      SqlSchema.findAll({
        Request: StatsQuery,
        Result: Schema.Struct({
          status: Schema.Literal("in_grace_period", "in_billing_retry", "on_hold"),
          count: Schema.Int
        }),
        execute: ({ appId, environment, now }) => sql`
          SELECT status, count(*) AS count FROM subscriptions
          WHERE app_id = ${appId} AND environment = ${environment}
          AND status IN ('in_grace_period', 'in_billing_retry', 'on_hold') AND state->>'ownershipType' = 'purchased'
          AND (status <> 'in_grace_period'
            OR coalesce((state->>'gracePeriodExpiresDate')::timestamptz, expires_date) > ${now})
          GROUP BY status`
      }),
      Effect.orDie
    )

    const money = Effect.fn("StatsRepo.money")(
      SqlSchema.findAll({
        Request: StatsQuery,
        Result: Takings,
        execute: (query) => sql`
          SELECT ${dayText}, store, product_identifier, currency, sum(price_micros)::bigint AS gross_micros,
            coalesce(sum(price_micros) FILTER (WHERE is_refunded), 0)::bigint AS refund_micros
          FROM (
            SELECT ${utcDay("purchase_date")} AS day, store, product_identifier, currency, price_micros,
              refunded_at IS NOT NULL AS is_refunded
            FROM transactions
            WHERE ${bought(query, "transactions")} AND purchase_date >= ${query.from} AND purchase_date < ${query.until}
            AND price_micros > 0 AND currency IS NOT NULL
          ) AS paid
          GROUP BY GROUPING SETS ((paid.day, currency), (store, product_identifier, currency))`
      }),
      Effect.orDie
    )

    const running = Effect.fn("StatsRepo.running")(
      SqlSchema.findAll({
        Request: StatsQuery,
        Result: RunningPeriods,
        execute: (query) => sql`
          SELECT periods.*, CASE WHEN period_type = 'normal' THEN products.subscription_period END AS subscription_period,
            period_type = 'trial' AS is_trial
          FROM (
            SELECT store, product_identifier, period_type, currency, price_micros,
              coalesce(round(extract(epoch FROM expires_date - purchase_date) / 86400), 0)::int AS days,
              count(*) AS count
            FROM transactions
            WHERE ${bought(query, "transactions")} AND purchase_date < ${query.at} AND covered_until >= ${query.at}
            GROUP BY 1, 2, 3, 4, 5, 6
          ) AS periods
          LEFT JOIN products ON products.app_id = ${query.appId} AND products.store = periods.store
            AND products.identifier = periods.product_identifier`
      }),
      Effect.orDie
    )

    /** By day, paid periods that began less those that ended; those that ran before the range stand at no day. */
    const changes = Effect.fn("StatsRepo.changes")(
      SqlSchema.findAll({
        Request: StatsQuery,
        Result: Schema.Struct({ day: Schema.NullOr(Schema.String), change: Schema.Int }),
        execute: (query) => sql`
          WITH paid AS (
            SELECT purchase_date, covered_until FROM transactions
            WHERE ${bought(query, "transactions")} AND period_type <> 'trial'
            AND purchase_date < ${query.at} AND covered_until >= ${query.from}
          ), moments AS (
            SELECT CASE WHEN purchase_date >= ${query.from} THEN ${utcDay("purchase_date")} END AS day, 1 AS change
            FROM paid
            UNION ALL SELECT ${utcDay("covered_until")}, -1 FROM paid WHERE covered_until < ${query.at}
          )
          SELECT ${dayText}, sum(change) AS change FROM moments GROUP BY moments.day`
      }),
      Effect.orDie
    )

    const firstPaid = Effect.fn("StatsRepo.firstPaid")(
      SqlSchema.single({
        Request: StatsQuery,
        Result: Schema.Struct({ count: Schema.Int }),
        execute: (query) => sql`
          SELECT count(*) AS count FROM transactions AS period
          WHERE ${bought(query, "period")} AND period.period_type <> 'trial' AND period.covered_until IS NOT NULL
          AND period.purchase_date >= ${query.from} AND period.purchase_date < ${query.at}
          AND NOT EXISTS (
            SELECT FROM transactions AS earlier
            WHERE earlier.subscription_id = period.subscription_id AND earlier.covered_until IS NOT NULL
            AND earlier.period_type <> 'trial' AND earlier.ownership_type = 'purchased'
            AND (earlier.purchase_date, earlier.store_transaction_id COLLATE "C")
              < (period.purchase_date, period.store_transaction_id COLLATE "C")
          )`
      }),
      Effect.orDie
    )

    const trials = Effect.fn("StatsRepo.trials")(
      SqlSchema.single({
        Request: StatsQuery,
        Result: Schema.Struct({ trials: Schema.Int, trialConversions: Schema.Int }),
        execute: (query) => sql`
          SELECT count(*) AS trials, count(*) FILTER (WHERE next.is_paid) AS trial_conversions
          FROM transactions AS trial
          LEFT JOIN LATERAL (
            SELECT later.period_type <> 'trial' AND later.refunded_at IS NULL AS is_paid FROM transactions AS later
            WHERE later.subscription_id = trial.subscription_id AND later.covered_until IS NOT NULL
            AND (later.purchase_date, later.store_transaction_id COLLATE "C")
              > (trial.purchase_date, trial.store_transaction_id COLLATE "C")
            ORDER BY later.purchase_date, later.store_transaction_id COLLATE "C" LIMIT 1
          ) AS next ON true
          WHERE ${bought(query, "trial")} AND trial.period_type = 'trial' AND trial.covered_until IS NOT NULL
          AND trial.purchase_date >= ${query.from} AND trial.purchase_date < ${query.at}`
      }),
      Effect.orDie
    )

    return { snapshot, customers, troubled, money, running, changes, firstPaid, trials } as const
  })
}) {}
