import { Client } from "pg"

/** What a seeded database belongs to: made through the API beforehand. */
export interface SeededApp {
  readonly appId: string
  readonly endpointId: string
}

export const products = [
  { store: "store_a", identifier: "pro.monthly", period: "P1M", price: "9.99" },
  { store: "store_a", identifier: "plus.monthly", period: "P1M", price: "4.99" },
  { store: "store_a", identifier: "lite.monthly", period: "P1M", price: "1.99" },
  { store: "store_a", identifier: "pro.yearly", period: "P1Y", price: "79.99" },
  { store: "store_b", identifier: "pro.monthly", period: "P1M", price: "9.99" },
  { store: "store_b", identifier: "plus.monthly", period: "P1M", price: "4.99" },
  { store: "store_b", identifier: "lite.monthly", period: "P1M", price: "1.99" },
  { store: "store_b", identifier: "plus.yearly", period: "P1Y", price: "39.99" },
  { store: "store_b", identifier: "pro.yearly", period: "P1Y", price: "79.99" },
  { store: "store_a", identifier: "coins.100", period: null, price: "0.99" }
] as const

/** The days over which the app has grown. */
const age = 730

const filled = [
  "customers",
  "subscriptions",
  "transactions",
  "domain_events",
  "store_notifications",
  "webhook_events",
  "webhook_deliveries",
  "webhook_attempts"
]

/** A version 7 id of a moment: the 122nd bits come from a text, so that each row's id is its own. */
const idOf = (moment: string, text: string) => `(
  lpad(to_hex((extract(epoch FROM ${moment}) * 1000)::bigint), 12, '0') || '7' || substr(md5(${text}), 1, 3)
  || '8' || substr(md5(${text}), 4, 15))::uuid`

const iso = (moment: string) => `to_char((${moment}) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** A number from 0 to 1 that is always the same for the same text. */
const chance = (text: string) => `((hashtextextended(${text}, 7) & 1048575) / 1048576.0)`

const catalogue = products
  .map(({ identifier, period, price, store }, index) => {
    const days = period === null ? "NULL" : period === "P1M" ? "30" : "365"
    return `(${index}, '${store}', '${identifier}', ${days}::int, ${Math.round(Number(price) * 1_000_000)})`
  })
  .join(", ")

/**
 * Statements, one by one. Times end at `now()` in whole milliseconds; `$app` and `$endpoint` are ids, `$n` the number of
 * customers. Six subscriptions go to five customers, the rest of three times as many transactions are one-time purchases.
 * What is rare (a lost delivery, a waiting notification) is as many rows in any size, so that pages are equally full.
 */
const statements = [
  `CREATE TEMP TABLE goods AS SELECT * FROM (VALUES ${catalogue}) AS g (slot, store, identifier, days, price)`,
  `CREATE TEMP TABLE clock AS SELECT date_trunc('minute', now()) AS now`,
  `INSERT INTO customers (id, app_id, app_user_id, is_anonymous, first_seen, last_seen)
    SELECT ${idOf("seen", "'c' || n")}, $app, left(md5('u' || n), 20), n % 4 = 0, seen, least(now, seen + interval '20 days')
    FROM (
      SELECT n, now, date_trunc('milliseconds', now - ${age} * (1 - n / $n::float8) * interval '1 day') AS seen
      FROM generate_series(1, $n) n, clock
    ) people`,
  `CREATE TEMP TABLE people AS
    SELECT row_number() OVER (ORDER BY id) AS n, id, app_user_id, first_seen FROM customers WHERE app_id = $app`,
  `CREATE UNIQUE INDEX ON people (n)`,
  `CREATE TEMP TABLE chains AS
    SELECT k, people.id AS customer_id, people.app_user_id, goods.store, goods.identifier, goods.days, goods.price,
      CASE WHEN k % 50 = 0 THEN 'sandbox' ELSE 'production' END AS environment,
      CASE WHEN k % 40 = 1 THEN 'family_shared' ELSE 'purchased' END AS ownership,
      k % 3 = 0 AS tries, k % 25 = 3 AS refunded,
      (ARRAY['USD', 'USD', 'USD', 'EUR', 'EUR', 'GBP', 'JPY', 'BRL'])[1 + k % 8] AS currency,
      date_trunc('milliseconds', people.first_seen + ${chance("'s' || k")} * (now - people.first_seen)) AS start,
      CASE WHEN goods.days = 30 THEN (ARRAY[1, 1, 2, 4, 9])[1 + k % 5] ELSE 1 + k % 2 END AS renewals,
      '2' || lpad(k::text, 12, '0') AS original, clock.now
    FROM generate_series(1, $n * 6 / 5) k, clock, people, goods
    WHERE people.n = 1 + (k::bigint * 7919) % ($n * 3 / 5) AND goods.slot = (k / 5) % 9`,
  `CREATE TEMP TABLE periods AS
    SELECT chains.*, nth, ${idOf("begins", "'t' || k || '/' || nth")} AS id,
      nth = 1 AND tries AS is_trial, begins,
      CASE WHEN nth = 1 AND tries THEN begins + interval '7 days' ELSE begins + days * interval '1 day' END AS ends,
      CASE WHEN refunded AND NOT (nth = 1 AND tries) AND nth = renewals THEN begins + interval '2 days' END AS refund
    FROM chains, LATERAL (
      SELECT nth, CASE WHEN tries AND nth > 1 THEN start + interval '7 days' + (nth - 2) * days * interval '1 day'
        ELSE start + (nth - 1) * days * interval '1 day' END AS begins
      FROM generate_series(1, renewals) nth
    ) laid WHERE begins <= now`,
  `CREATE TEMP TABLE lasts AS SELECT DISTINCT ON (k) * FROM periods ORDER BY k, nth DESC`,
  `INSERT INTO subscriptions (id, app_id, customer_id, store, environment, original_transaction_id, product_identifier,
      status, expires_date, state, created_at, updated_at)
    SELECT ${idOf("start", "'k' || k")}, $app, customer_id, store, environment, original, identifier, status, ends,
      jsonb_build_object('store', store, 'environment', environment, 'originalTransactionId', original,
        'storeTransactionId', original || '/' || nth, 'productIdentifier', identifier, 'status', status,
        'periodType', CASE WHEN is_trial THEN 'trial' ELSE 'normal' END, 'ownershipType', ownership,
        'purchaseDate', ${iso("begins")}, 'originalPurchaseDate', ${iso("start")}, 'expiresDate', ${iso("ends")},
        'gracePeriodExpiresDate', CASE WHEN status = 'in_grace_period' THEN ${iso("ends + interval '16 days'")} END,
        'unsubscribeDetectedAt', CASE WHEN status IN ('canceled', 'expired') THEN ${iso("begins")} END,
        'billingIssuesDetectedAt', CASE WHEN status LIKE 'in_%' OR status = 'on_hold' THEN ${iso("ends")} END,
        'refundedAt', ${iso("refund")}, 'autoResumeDate', NULL, 'willRenew', status IN ('active', 'trialing'),
        'pendingProductIdentifier', NULL, 'priceMicros', CASE WHEN is_trial THEN 0 ELSE price END, 'currency', currency),
      start, least(now, ends)
    FROM (
      SELECT *, CASE WHEN refund IS NOT NULL THEN 'revoked'
        WHEN ends > now THEN CASE WHEN k % 6 = 0 THEN 'canceled' WHEN is_trial THEN 'trialing' ELSE 'active' END
        WHEN ends > now - interval '16 days' AND k % 20 = 7 THEN 'in_grace_period'
        WHEN ends > now - interval '60 days' AND k % 20 = 8 THEN 'in_billing_retry'
        WHEN ends > now - interval '60 days' AND k % 50 = 9 THEN 'on_hold' ELSE 'expired' END AS status
      FROM lasts
    ) chain`,
  `INSERT INTO transactions (id, app_id, customer_id, subscription_id, store, environment, store_transaction_id,
      original_transaction_id, product_identifier, period_type, ownership_type, purchase_date, expires_date, refunded_at,
      price_micros, currency, created_at, covered_until)
    SELECT id, $app, customer_id, ${idOf("start", "'k' || k")}, store, environment, original || '/' || nth, original,
      identifier, CASE WHEN is_trial THEN 'trial' ELSE 'normal' END, ownership, begins, ends, refund,
      CASE WHEN is_trial THEN 0 ELSE price END, currency, begins, least(ends, refund)
    FROM periods`,
  `INSERT INTO transactions (id, app_id, customer_id, subscription_id, store, environment, store_transaction_id,
      original_transaction_id, product_identifier, period_type, ownership_type, purchase_date, expires_date, refunded_at,
      price_micros, currency, created_at, covered_until)
    SELECT ${idOf("bought", "'o' || n")}, $app, id, NULL, store, CASE WHEN n % 50 = 0 THEN 'sandbox' ELSE 'production' END,
      'o' || n, 'o' || n, identifier, 'normal', 'purchased', bought, NULL,
      CASE WHEN n % 30 = 0 THEN bought + interval '1 day' END, price, 'USD', bought, NULL
    FROM (
      SELECT o.n, people.id, goods.*,
        date_trunc('milliseconds', first_seen + ${chance("'b' || o.n")} * (now - first_seen)) AS bought
      FROM generate_series(1, greatest(0, $n * 3 - (SELECT count(*) FROM periods))) o (n), people, goods, clock
      WHERE goods.slot = 9 AND people.n = 1 + (o.n * 104729) % $n
    ) once`,
  `CREATE TEMP TABLE told AS
    SELECT ${idOf("begins", "'e' || id")} AS id, periods.id AS transaction_id, k, app_user_id, store, environment, begins,
      identifier, now, CASE WHEN is_trial THEN 'subscription.trial_started' WHEN nth = 1 THEN 'subscription.started'
        WHEN nth = 2 AND tries THEN 'subscription.trial_converted' ELSE 'subscription.renewed' END AS type,
      ${idOf("start", "'k' || k")} AS subscription_id
    FROM periods
    UNION ALL
    SELECT ${idOf("refund", "'r' || id")}, id, k, app_user_id, store, environment, refund, identifier, now,
      'subscription.refunded', ${idOf("start", "'k' || k")} FROM periods WHERE refund <= now`,
  `INSERT INTO domain_events (id, app_id, type, cause, app_user_id, store, environment, subscription_id, data, created_at)
    SELECT id, $app, type, id::text, app_user_id, store, environment, subscription_id,
      jsonb_build_object('transaction_uuid', transaction_id, 'product_identifier', identifier), begins FROM told`,
  `INSERT INTO store_notifications (id, app_id, store, notification_id, type, subtype, environment, state, reason, payload,
      signed_at, received_at)
    SELECT ${idOf("begins", "'n' || id")}, $app, store, id::text, 'DID_RENEW', NULL, environment,
      CASE WHEN k % greatest(40, $n / 250) = 11 THEN 'pending' WHEN k % greatest(20, $n / 1000) = 12 THEN 'ignored' ELSE 'applied' END, NULL,
      repeat('x', 200), begins, begins
    FROM told WHERE store = 'store_a' AND begins > now - interval '90 days'`,
  `INSERT INTO webhook_events (id, owner_kind, owner_id, event, body, created_at)
    SELECT id, 'app', $app, type, jsonb_build_object('event', type, 'uuid', id)::text, begins
    FROM told WHERE begins > now - interval '90 days'`,
  `INSERT INTO webhook_deliveries (id, endpoint_id, owner_id, event_id, event, state, attempt_count, due_at, created_at)
    SELECT overlay(id::text PLACING right(md5(id::text), 10) FROM 27)::uuid, $endpoint, $app, id, type,
      CASE WHEN k % greatest(30, $n / 333) = 5 THEN 'exhausted' WHEN k % greatest(50, $n / 200) = 6 THEN 'failed' ELSE 'succeeded' END, 1,
      CASE WHEN k % greatest(50, $n / 200) = 6 AND k % greatest(30, $n / 333) <> 5 THEN now + interval '30 days' END, begins
    FROM told WHERE begins > now - interval '90 days'`,
  `INSERT INTO webhook_attempts (delivery_id, id, number, started_at, duration_ms, code, response_body, error)
    SELECT id, ${idOf("created_at", "'a' || id")}, 1, created_at, 40, CASE state WHEN 'succeeded' THEN 200 ELSE 500 END,
      NULL, NULL FROM webhook_deliveries`
]

/** Last of all: the program sums up marked days as soon as it sees them, and would do so without indexes. */
const marks = `INSERT INTO ledger_marks (app_id, environment, day)
    SELECT app_id, environment, (purchase_date AT TIME ZONE 'UTC')::date FROM transactions
    UNION SELECT app_id, environment, (covered_until AT TIME ZONE 'UTC')::date FROM transactions
      WHERE covered_until IS NOT NULL
    UNION SELECT app_id, '', (first_seen AT TIME ZONE 'UTC')::date FROM customers`

const indexes = `
  SELECT indexname AS name, indexdef AS definition FROM pg_indexes
  WHERE schemaname = 'public' AND tablename = ANY($1) AND NOT EXISTS (
    SELECT 1 FROM pg_constraint WHERE conname = indexname AND conrelid = tablename::regclass)`

const fill = async (client: Client, { appId, endpointId }: SeededApp, customers: number) => {
  await client.query(`SET session_replication_role = replica; SET synchronous_commit = off; SET work_mem = '256MB';
    SET maintenance_work_mem = '512MB'; SET temp_buffers = '256MB'; SET jit = off`)
  const found = await client.query<{ name: string; definition: string }>(indexes, [filled])
  for (const { name } of found.rows) await client.query(`DROP INDEX ${name}`)
  for (const statement of statements) {
    const meant = statement
      .replaceAll("$app", `'${appId}'::uuid`)
      .replaceAll("$endpoint", `'${endpointId}'::uuid`)
      .replaceAll("$n", String(customers))
    await client.query(meant)
    if (statement.startsWith("CREATE TEMP TABLE")) await client.query(`ANALYZE ${statement.split(" ")[3] ?? ""}`)
  }
  for (const { definition } of found.rows) await client.query(definition)
  await client.query("VACUUM ANALYZE")
  await client.query(marks)
}

/**
 * Fills an app's tables with the history of so many customers: in sets, without looking at references, and with the
 * secondary indexes made afterwards, as for any big import; then `VACUUM ANALYZE` and the days to sum up.
 */
export const seed = async (databaseUrl: string, { appId, endpointId }: SeededApp, customers: number): Promise<void> => {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await fill(client, { appId, endpointId }, customers)
  } finally {
    await client.end()
  }
}
