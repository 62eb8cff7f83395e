import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * What went back of a price, where that was not all of it. Until now what was left stood in the place of the price: the
 * store's words of renewing purchases, which are kept, tell both again. Purchases that never renew keep what was left.
 */
export default Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    ALTER TABLE transactions ADD COLUMN refunded_micros bigint;
    WITH told AS (
      SELECT DISTINCT ON (subscription_id, period) subscription_id, period,
        (words->>'priceMicros')::bigint AS price, (words->>'refundedMicros')::bigint AS back
      FROM store_facts, LATERAL (SELECT fact->'transaction' AS words) AS one,
        LATERAL (SELECT words->>'transactionId' AS period) AS named
      ORDER BY subscription_id, period, signed_at DESC, fact_id COLLATE "C" DESC
    )
    UPDATE transactions SET price_micros = told.price, refunded_micros = least(told.back, told.price)
    FROM told WHERE told.back IS NOT NULL AND told.price IS NOT NULL
    AND transactions.subscription_id = told.subscription_id AND transactions.store_transaction_id = told.period;
  `
)
