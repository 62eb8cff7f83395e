import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

export default Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    -- Null for what is no period of a renewing subscription. Rows of before get the plain answer until their chain's next
    -- statement gives the exact one.
    ALTER TABLE transactions ADD COLUMN covered_until timestamptz;
    UPDATE transactions SET covered_until = least(expires_date, refunded_at)
      WHERE subscription_id IS NOT NULL AND expires_date IS NOT NULL;

    CREATE INDEX transactions_sold ON transactions (app_id, environment, purchase_date);
    CREATE INDEX transactions_covered ON transactions (app_id, environment, covered_until)
      WHERE covered_until IS NOT NULL;
    CREATE INDEX transactions_chain ON transactions (subscription_id, purchase_date, store_transaction_id COLLATE "C")
      WHERE covered_until IS NOT NULL;
    CREATE INDEX customers_first_seen ON customers (app_id, first_seen);
    CREATE INDEX subscriptions_troubled ON subscriptions (app_id, environment, status)
      WHERE status IN ('in_grace_period', 'in_billing_retry', 'on_hold');
  `
)
