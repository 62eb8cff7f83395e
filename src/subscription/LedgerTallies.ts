import type { SqlClient, Statement } from "@effect/sql"

/**
 * What the ledger of an app says of single days, per kind and group: `sold` money by purchase day, `began` and `ended`
 * purchased periods by the day of their begin and end, `first_paid` chains, `trial` beginnings and the `conversion` of
 * these; and how many customers `joined`, under the empty environment. Looks at rows of `spans (app_id, environment,
 * since, at, until)`, from `since` on: money and customers before `until`, all else before `at`, which is in the UTC day
 * that `since` begins.
 */
export const tallies = (sql: SqlClient.SqlClient, kinds: ReadonlyArray<keyof ReturnType<typeof byKind>>) => {
  const known = byKind(sql)
  const [first, ...more] = kinds.map((kind) => known[kind])
  return more.reduce((all, next) => sql`${all} UNION ALL ${next}`, first ?? sql``)
}

/** `OFFSET 0` keeps the planner from joining all days with the whole ledger: each day is looked up where the index has it. */
const byKind = (sql: SqlClient.SqlClient) => {
  const spanBySpan = sql`OFFSET 0`
  const day = sql`(spans.since AT TIME ZONE 'UTC')::date AS day`
  const mine = (rows: string) => sql`
    ${sql(rows)}.app_id = spans.app_id AND ${sql(rows)}.environment = spans.environment
    AND ${sql(rows)}.ownership_type = 'purchased'`
  const group = sql`store, product_identifier, period_type, currency, price_micros`
  const noGroup = sql`NULL::text, NULL::text, NULL::text, NULL::text, NULL::bigint, NULL::int`
  const length = sql`coalesce(round(extract(epoch FROM expires_date - purchase_date) / 86400), 0)::int`
  const counted = (kind: string, of: Statement.Fragment) => sql`
    SELECT app_id, environment, day, ${sql.literal(`'${kind}'`)} AS kind, ${noGroup}, count, 0::bigint, 0::bigint
    FROM (SELECT spans.app_id, spans.environment, ${day}, count(*) AS count FROM spans CROSS JOIN LATERAL (${of} ${spanBySpan}) AS rows
      GROUP BY 1, 2, 3) AS counted`
  const periods = (kind: string, moment: string) => sql`
    SELECT spans.app_id, spans.environment, ${day}, ${sql.literal(`'${kind}'`)} AS kind, ${group}, length AS days,
      count(*) AS count, 0::bigint AS micros, 0::bigint AS refund_micros
    FROM spans CROSS JOIN LATERAL (
      SELECT ${group}, ${length} AS length FROM transactions
      WHERE ${mine("transactions")} AND covered_until IS NOT NULL
      AND ${sql(moment)} >= spans.since AND ${sql(moment)} < spans.at ${spanBySpan}
    ) AS rows GROUP BY 1, 2, 3, 5, 6, 7, 8, 9, 10`

  return {
    joined: counted(
      "joined",
      sql`
        SELECT FROM customers WHERE customers.app_id = spans.app_id AND spans.environment = ''
        AND customers.merged_into IS NULL
        AND customers.first_seen >= spans.since AND customers.first_seen < spans.until`
    ),
    sold: sql`
      SELECT spans.app_id, spans.environment, rows.day, 'sold' AS kind, store, product_identifier, NULL::text, currency,
        NULL::bigint, NULL::int, count(*), sum(price_micros)::bigint,
        coalesce(sum(CASE WHEN refunded_at IS NULL THEN refunded_micros ELSE price_micros END), 0)::bigint
      FROM spans CROSS JOIN LATERAL (
        SELECT (purchase_date AT TIME ZONE 'UTC')::date AS day, store, product_identifier, currency, price_micros,
          refunded_at, refunded_micros
        FROM transactions
        WHERE ${mine("transactions")} AND price_micros > 0 AND currency IS NOT NULL
        AND purchase_date >= spans.since AND purchase_date < spans.until ${spanBySpan}
      ) AS rows GROUP BY 1, 2, 3, 5, 6, 8`,
    began: periods("began", "purchase_date"),
    ended: periods("ended", "covered_until"),
    first_paid: counted(
      "first_paid",
      sql`
        SELECT FROM transactions AS period
        WHERE ${mine("period")} AND period.period_type <> 'trial' AND period.covered_until IS NOT NULL
        AND period.purchase_date >= spans.since AND period.purchase_date < spans.at
        AND NOT EXISTS (
          SELECT FROM transactions AS earlier
          WHERE earlier.subscription_id = period.subscription_id AND earlier.covered_until IS NOT NULL
          AND earlier.period_type <> 'trial' AND earlier.ownership_type = 'purchased'
          AND (earlier.purchase_date, earlier.store_transaction_id COLLATE "C")
            < (period.purchase_date, period.store_transaction_id COLLATE "C")
          OFFSET 0
        )`
    ),
    trial: counted(
      "trial",
      sql`
        SELECT FROM transactions AS trial
        WHERE ${mine("trial")} AND trial.period_type = 'trial' AND trial.covered_until IS NOT NULL
        AND trial.purchase_date >= spans.since AND trial.purchase_date < spans.at`
    ),
    conversion: counted(
      "conversion",
      sql`
        SELECT FROM transactions AS trial
        CROSS JOIN LATERAL (
          SELECT later.period_type <> 'trial' AND later.refunded_at IS NULL AS is_paid FROM transactions AS later
          WHERE later.subscription_id = trial.subscription_id AND later.covered_until IS NOT NULL
          AND (later.purchase_date, later.store_transaction_id COLLATE "C")
            > (trial.purchase_date, trial.store_transaction_id COLLATE "C")
          ORDER BY later.purchase_date, later.store_transaction_id COLLATE "C" LIMIT 1
        ) AS next
        WHERE ${mine("trial")} AND trial.period_type = 'trial' AND trial.covered_until IS NOT NULL AND next.is_paid
        AND trial.purchase_date >= spans.since AND trial.purchase_date < spans.at`
    )
  } as const
}
