import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
import { AppId } from "../catalog/domain/App.ts"
import { StoreName } from "../catalog/domain/Product.ts"
import { Environment, PeriodType } from "../store/domain/PurchaseFact.ts"
import { tallies } from "./LedgerTallies.ts"

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
  periodType: PeriodType,
  currency: Schema.NullOr(Schema.String),
  priceMicros: Schema.NullOr(Schema.Int),
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

    const utcDay = (moment: Date) => sql`(${moment}::timestamptz AT TIME ZONE 'UTC')::date`
    const dayText = sql`to_char(day, 'YYYY-MM-DD') AS day`

    /**
     * `tallied`: what the ledger says of each day before the range's end. Past days as they were summed up, unless they
     * have changed since; those and today row by row.
     */
    const tallied = (
      {
        appId,
        at,
        environment,
        now,
        until
      }: Omit<typeof StatsQuery.Encoded, "environment" | "from"> & {
        readonly environment: string
      },
      kinds: Parameters<typeof tallies>[1]
    ) => sql`
      changed AS (
        SELECT DISTINCT day FROM ledger_marks WHERE app_id = ${appId} AND environment = ${environment}
        AND day < ${utcDay(now)} AND day < ${utcDay(until)}
      ), spans AS (
        SELECT ${appId}::uuid AS app_id, ${environment}::text AS environment, day::timestamp AT TIME ZONE 'UTC' AS since,
          (day + 1)::timestamp AT TIME ZONE 'UTC' AS at, (day + 1)::timestamp AT TIME ZONE 'UTC' AS until FROM changed
        UNION ALL
        SELECT ${appId}::uuid, ${environment}::text, ${utcDay(now)}::timestamp AT TIME ZONE 'UTC', ${at}, ${until}
        WHERE ${until}::timestamptz > ${now}
      ), tallied AS (
        SELECT app_id, environment, day, kind, store, product_identifier, period_type, currency, price_micros, days,
          count, micros, refund_micros
        FROM ledger_days WHERE app_id = ${appId} AND environment = ${environment} AND kind IN ${sql.in(kinds)}
        AND day < ${utcDay(now)} AND day < ${utcDay(until)} AND day NOT IN (SELECT day FROM changed)
        UNION ALL ${tallies(sql, kinds)}
      )`

    /** Every sum of one call sees the same moment of the ledger; compiling these sums would take longer than they do. */
    const snapshot = sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`.pipe(
      Effect.zipRight(sql`SET LOCAL jit = off`),
      Effect.asVoid,
      Effect.orDie
    )

    const customers = Effect.fn("StatsRepo.customers")(
      SqlSchema.single({
        Request: StatsQuery,
        Result: Schema.Struct({ customers: Schema.Int, newCustomers: Schema.Int }),
        execute: (query) => sql`
          WITH ${tallied({ ...query, environment: "" }, ["joined"])}
          SELECT coalesce(sum(count), 0)::bigint AS customers,
            coalesce(sum(count) FILTER (WHERE day >= ${utcDay(query.from)}), 0)::bigint AS new_customers FROM tallied`
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
          WITH ${tallied(query, ["sold"])}
          SELECT ${dayText}, store, product_identifier, currency, sum(micros)::bigint AS gross_micros,
            sum(refund_micros)::bigint AS refund_micros
          FROM tallied AS paid WHERE day >= ${utcDay(query.from)}
          GROUP BY GROUPING SETS ((paid.day, currency), (store, product_identifier, currency))`
      }),
      Effect.orDie
    )

    const running = Effect.fn("StatsRepo.running")(
      SqlSchema.findAll({
        Request: StatsQuery,
        Result: RunningPeriods,
        execute: (query) => sql`
          WITH ${tallied(query, ["began", "ended"])}
          SELECT * FROM (
            SELECT store, product_identifier, period_type, currency, price_micros, days,
              sum(CASE kind WHEN 'began' THEN count ELSE -count END)::bigint AS count
            FROM tallied GROUP BY 1, 2, 3, 4, 5, 6
          ) AS periods WHERE count <> 0`
      }),
      Effect.orDie
    )

    const products = Effect.fn("StatsRepo.products")(
      SqlSchema.findAll({
        Request: AppId,
        Result: Schema.Struct({
          store: StoreName,
          identifier: Schema.String,
          subscriptionPeriod: Schema.OptionFromNullOr(Schema.String)
        }),
        execute: (appId) => sql`SELECT store, identifier, subscription_period FROM products WHERE app_id = ${appId}`
      }),
      Effect.orDie
    )

    /** By day, paid periods that began less those that ended; those that ran before the range stand at no day. */
    const changes = Effect.fn("StatsRepo.changes")(
      SqlSchema.findAll({
        Request: StatsQuery,
        Result: Schema.Struct({ day: Schema.NullOr(Schema.String), change: Schema.Int }),
        execute: (query) => sql`
          WITH ${tallied(query, ["began", "ended"])}
          SELECT ${dayText}, sum(CASE kind WHEN 'began' THEN count ELSE -count END)::bigint AS change
          FROM (
            SELECT CASE WHEN tallied.day >= ${utcDay(query.from)} THEN tallied.day END AS day, kind, count
            FROM tallied WHERE period_type <> 'trial'
          ) AS moments GROUP BY moments.day`
      }),
      Effect.orDie
    )

    const countOf = (query: typeof StatsQuery.Encoded, kind: "first_paid" | "trial" | "conversion") => sql`
      coalesce(sum(count) FILTER (WHERE kind = ${kind} AND day >= ${utcDay(query.from)}), 0)::bigint`

    const firstPaid = Effect.fn("StatsRepo.firstPaid")(
      SqlSchema.single({
        Request: StatsQuery,
        Result: Schema.Struct({ count: Schema.Int }),
        execute: (query) => sql`
          WITH ${tallied(query, ["first_paid"])} SELECT ${countOf(query, "first_paid")} AS count FROM tallied`
      }),
      Effect.orDie
    )

    const trials = Effect.fn("StatsRepo.trials")(
      SqlSchema.single({
        Request: StatsQuery,
        Result: Schema.Struct({ trials: Schema.Int, trialConversions: Schema.Int }),
        execute: (query) => sql`
          WITH ${tallied(query, ["trial", "conversion"])}
          SELECT ${countOf(query, "trial")} AS trials, ${countOf(query, "conversion")} AS trial_conversions FROM tallied`
      }),
      Effect.orDie
    )

    return { snapshot, customers, troubled, money, running, products, changes, firstPaid, trials } as const
  })
}) {}
