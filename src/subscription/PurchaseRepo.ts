import { SqlClient, SqlSchema } from "@effect/sql"
import { DateTime, Effect, flow, Option, Schema } from "effect"
import { AppId } from "../catalog/domain/App.ts"
import { StoreName } from "../catalog/domain/Product.ts"
import { Environment, PurchaseFact } from "../store/domain/PurchaseFact.ts"
import { Outbox } from "../webhook/Outbox.ts"
import { AppUserId, CustomerId } from "./domain/Customer.ts"
import { SubscriptionId } from "./domain/Subscription.ts"
import { columns, type PurchaseRows } from "./PurchaseRows.ts"

const Question = Schema.Struct({
  appId: AppId,
  store: StoreName,
  environment: Environment,
  originalTransactionId: Schema.String,
  appUserId: Schema.NullOr(AppUserId)
})

/** What is known of a purchase chain before a statement about it: the customer is its owner, or bears the name. */
const Known = Schema.Struct({
  subscriptionId: Schema.OptionFromNullOr(SubscriptionId),
  customerId: Schema.OptionFromNullOr(CustomerId),
  appUserId: Schema.OptionFromNullOr(AppUserId),
  isErased: Schema.Boolean,
  isHeard: Schema.Boolean,
  facts: Schema.Array(PurchaseFact)
})
export type Known = typeof Known.Type

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

/** A statement of a store about a renewing purchase, in one look and one write, which takes the lock of its chain. */
export class PurchaseRepo extends Effect.Service<PurchaseRepo>()("gatehouse/subscription/PurchaseRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const outbox = yield* Outbox

    /** What `write` relies on; the customer is the one to whom the chain, or else the name, leads. */
    const look = flow(
      SqlSchema.single({
        Request: Question,
        Result: Known,
        execute: (asked) => sql`/* prepared: purchase_look */
          WITH chain AS (
            SELECT id, customer_id FROM subscriptions WHERE app_id = ${asked.appId} AND store = ${asked.store}
            AND environment = ${asked.environment} AND original_transaction_id = ${asked.originalTransactionId}
          )
          SELECT (SELECT id FROM chain) AS subscription_id, customers.id AS customer_id, customers.app_user_id,
            customers.erased_at IS NOT NULL AS is_erased, ${outbox.isHeard(asked.appId)} AS is_heard,
            (SELECT coalesce(jsonb_agg(fact), '[]') FROM store_facts
              WHERE subscription_id = (SELECT id FROM chain)) AS facts
          FROM (VALUES (1)) AS always
          LEFT JOIN customers named ON named.id = coalesce(
            (SELECT customer_id FROM chain),
            (SELECT id FROM customers WHERE app_id = ${asked.appId} AND app_user_id = ${asked.appUserId}))
          LEFT JOIN customers ON customers.id = coalesce(named.merged_into, named.id)`
      }),
      Effect.orDie
    )

    const put = (table: keyof PurchaseRows, rows: PurchaseRows) => {
      const [name, names] = [sql.literal(table), sql.literal(columns[table])]
      return sql`INSERT INTO ${name} (${names})
        SELECT ${names} FROM json_populate_recordset(NULL::${name}, ${JSON.stringify(rows[table])}::json)
        WHERE (SELECT ok FROM held)`
    }

    /**
     * Writes all of it, and answers the ids of the events that no earlier statement has caused; or nothing and none, when
     * what was looked at has changed. `others` says until when the other periods of the chain gave access.
     */
    const write = (basis: Basis, rows: PurchaseRows, others: ReadonlyMap<string, DateTime.Utc>) =>
      sql`/* prepared: purchase_write */
        WITH held AS MATERIALIZED (
          SELECT purchase_hold(${basis.appId}, ${basis.store}, ${basis.environment}, ${basis.originalTransactionId},
            ${basis.subscriptionId}, ${basis.isNew}, ${basis.facts}, ${basis.customerId}, ${basis.isErased},
            ${basis.notificationId}) AS ok
        ),
        inbox AS (${put("store_notifications", rows)}), newcomer AS (${put("customers", rows)}),
        chain AS (
          ${put("subscriptions", rows)}
          ON CONFLICT (id) DO UPDATE SET product_identifier = excluded.product_identifier, status = excluded.status,
            expires_date = excluded.expires_date, look_at = excluded.look_at, state = excluded.state,
            updated_at = excluded.updated_at
        ),
        statement AS (${put("store_facts", rows)}),
        period AS (
          ${put("transactions", rows)}
          ON CONFLICT (app_id, store, environment, store_transaction_id) DO UPDATE SET
            product_identifier = excluded.product_identifier, period_type = excluded.period_type,
            ownership_type = excluded.ownership_type, purchase_date = excluded.purchase_date,
            expires_date = excluded.expires_date, refunded_at = excluded.refunded_at,
            price_micros = excluded.price_micros, currency = excluded.currency, covered_until = excluded.covered_until
        ),
        other AS (
          UPDATE transactions SET covered_until = period_end.until
          FROM unnest(${[...others.keys()]}::text[], ${[...others.values()].map(DateTime.formatIso)}::timestamptz[])
            AS period_end (period, until)
          WHERE (SELECT ok FROM held) AND subscription_id = ${basis.subscriptionId}
            AND store_transaction_id = period_end.period AND covered_until IS DISTINCT FROM period_end.until
        ),
        told AS (${put("domain_events", rows)} ON CONFLICT (app_id, cause) DO NOTHING RETURNING id)
        SELECT ok AS is_held, ARRAY(SELECT id::text FROM told) AS events FROM held`.pipe(
        Effect.flatMap(decodeWritten),
        Effect.map(([{ events, isHeld }]) => (isHeld ? Option.some(new Set<string>(events)) : Option.none())),
        Effect.orDie
      )
    return { look, write } as const
  })
}) {}
