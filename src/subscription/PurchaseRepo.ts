import { SqlClient } from "@effect/sql"
import { DateTime, Effect, Option, Schema } from "effect"
import { AppId } from "../catalog/domain/App.ts"
import { StoreName } from "../catalog/domain/Product.ts"
import { Environment, PurchaseFact } from "../store/domain/PurchaseFact.ts"
import { Outbox } from "../webhook/Outbox.ts"
import { AppUserId, CustomerId } from "./domain/Customer.ts"
import { SubscriptionId } from "./domain/Subscription.ts"
import { columns, type PurchaseRows } from "./PurchaseRows.ts"

interface Question {
  readonly appId: AppId
  readonly store: StoreName
  readonly environment: Environment
  readonly originalTransactionId: string
  readonly appUserId: AppUserId | null
  readonly bundleId: string | null
}

/**
 * What is known of a purchase chain before a statement about it: the customer is its owner, or bears the name. It is the
 * app's own when that has the bundle id that was asked for, and is not archived.
 */
const Known = Schema.Struct({
  subscriptionId: Schema.OptionFromNullOr(SubscriptionId),
  customerId: Schema.OptionFromNullOr(CustomerId),
  appUserId: Schema.OptionFromNullOr(AppUserId),
  isErased: Schema.Boolean,
  isOurs: Schema.Boolean,
  isHeard: Schema.Boolean,
  facts: Schema.Array(PurchaseFact)
})
const decodeKnown = Schema.decodeUnknown(Schema.Tuple(Known))

/** What a write relies on. Without a customer a new one is written too, without a notification nothing is expected of it. */
export interface Basis {
  readonly appId: AppId
  readonly store: StoreName
  readonly environment: Environment
  readonly originalTransactionId: string
  readonly subscriptionId: SubscriptionId
  readonly isNew: boolean
  readonly facts: ReadonlyArray<string>
  readonly customerId: CustomerId | null
  readonly isErased: boolean
  readonly notificationId: string | null
}

const Written = Schema.Tuple(Schema.Struct({ isHeld: Schema.Boolean, events: Schema.Array(Schema.String) }))
const decodeWritten = Schema.decodeUnknown(Written)

/** Texts that never vary are planned once for each connection, and never put together again. */
const lookText = (isHeard: string) => `/* prepared: purchase_look */
  WITH chain AS (
    SELECT id, customer_id FROM subscriptions
    WHERE app_id = $1 AND store = $2 AND environment = $3 AND original_transaction_id = $4
  )
  SELECT (SELECT id FROM chain) AS subscription_id, customers.id AS customer_id, customers.app_user_id,
    customers.erased_at IS NOT NULL AS is_erased, $6::text IS NULL OR EXISTS (
      SELECT FROM apps WHERE id = $1 AND bundle_id = $6 AND status <> 'archived'
    ) AS is_ours, ${isHeard} AS is_heard,
    (SELECT coalesce(jsonb_agg(fact), '[]') FROM store_facts WHERE subscription_id = (SELECT id FROM chain)) AS facts
  FROM (VALUES (1)) AS always
  LEFT JOIN customers named ON named.id = coalesce(
    (SELECT customer_id FROM chain), (SELECT id FROM customers WHERE app_id = $1 AND app_user_id = $5))
  LEFT JOIN customers ON customers.id = coalesce(named.merged_into, named.id)`

const tables = [
  "store_notifications",
  "customers",
  "subscriptions",
  "store_facts",
  "transactions",
  "domain_events"
] as const satisfies ReadonlyArray<keyof PurchaseRows>

const put = (table: (typeof tables)[number]) => `
  INSERT INTO ${table} (${columns[table]})
  SELECT ${columns[table]} FROM json_populate_recordset(NULL::${table}, $${13 + tables.indexOf(table)}::json)
  WHERE (SELECT ok FROM held)`

const writeText = `/* prepared: purchase_write */
  WITH held AS MATERIALIZED (
    SELECT coalesce(purchase_hold($1, $2, $3, $4, $5, $6, $7, $8, $9, $10), false) AS ok
  ),
  inbox AS (${put("store_notifications")}), newcomer AS (${put("customers")}),
  chain AS (
    ${put("subscriptions")}
    ON CONFLICT (id) DO UPDATE SET product_identifier = excluded.product_identifier, status = excluded.status,
      expires_date = excluded.expires_date, look_at = excluded.look_at, state = excluded.state,
      updated_at = excluded.updated_at
  ),
  statement AS (${put("store_facts")}),
  period AS (
    ${put("transactions")}
    ON CONFLICT (app_id, store, environment, store_transaction_id) DO UPDATE SET
      product_identifier = excluded.product_identifier, period_type = excluded.period_type,
      ownership_type = excluded.ownership_type, purchase_date = excluded.purchase_date,
      expires_date = excluded.expires_date, refunded_at = excluded.refunded_at,
      refunded_micros = excluded.refunded_micros, price_micros = excluded.price_micros, currency = excluded.currency,
      covered_until = excluded.covered_until
  ),
  other AS (
    UPDATE transactions SET covered_until = period_end.until
    FROM unnest($11::text[], $12::timestamptz[]) AS period_end (period, until)
    WHERE (SELECT ok FROM held) AND subscription_id = $5
      AND store_transaction_id = period_end.period AND covered_until IS DISTINCT FROM period_end.until
  ),
  told AS (${put("domain_events")} ON CONFLICT (app_id, cause) DO NOTHING RETURNING id)
  SELECT ok AS is_held, ARRAY(SELECT id::text FROM told) AS events FROM held`

/** A statement of a store about a renewing purchase, in one look and one write, which takes the lock of its chain. */
export class PurchaseRepo extends Effect.Service<PurchaseRepo>()("gatehouse/subscription/PurchaseRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const looking = lookText((yield* Outbox).isHeard("$1"))

    /** What `write` relies on; the customer is the one to whom the chain, or else the name, leads. */
    const look = (asked: Question) =>
      sql
        .unsafe(looking, [
          ...[asked.appId, asked.store, asked.environment, asked.originalTransactionId],
          ...[asked.appUserId, asked.bundleId]
        ])
        .pipe(
          Effect.flatMap(decodeKnown),
          Effect.map(([known]) => known),
          Effect.orDie
        )

    /**
     * Writes all of it, and answers the ids of the events that no earlier statement has caused; or nothing and none, when
     * what was looked at has changed. `others` says until when the other periods of the chain gave access.
     */
    const write = (basis: Basis, rows: PurchaseRows, others: ReadonlyMap<string, DateTime.Utc>) =>
      sql
        .unsafe(writeText, [
          ...[basis.appId, basis.store, basis.environment, basis.originalTransactionId, basis.subscriptionId],
          ...[basis.isNew, basis.facts, basis.customerId, basis.isErased, basis.notificationId],
          ...[[...others.keys()], [...others.values()].map(DateTime.formatIso)],
          ...tables.map((table) => JSON.stringify(rows[table]))
        ])
        .pipe(
          Effect.flatMap(decodeWritten),
          Effect.map(([{ events, isHeld }]) => (isHeld ? Option.some(new Set<string>(events)) : Option.none())),
          Effect.orDie
        )
    return { look, write } as const
  })
}) {}
