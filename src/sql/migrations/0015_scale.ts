import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * `ledger_days` holds what `Stats.settle` sums up of each day, `ledger_marks` names the days that have changed since: a
 * trigger adds a mark wherever a transaction does, in the same commit, and never waits, as marks are only added. What a
 * chain's first period is depends on all of them: the days of all periods of a chain change with one of them.
 *
 * `lost` repeats the two states in which a delivery ends without arriving: taking one from the queue changes its state,
 * and an index on that would be written to each time.
 */
export default Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    CREATE TABLE ledger_days (
      app_id uuid NOT NULL REFERENCES apps ON DELETE CASCADE,
      environment text NOT NULL,
      day date NOT NULL,
      kind text NOT NULL,
      store text,
      product_identifier text,
      period_type text,
      currency text,
      price_micros bigint,
      days integer,
      count bigint NOT NULL,
      micros bigint NOT NULL,
      refund_micros bigint NOT NULL
    );
    CREATE INDEX ledger_days_app ON ledger_days (app_id, environment, kind, day);
    CREATE INDEX ledger_days_day ON ledger_days (app_id, environment, day);

    CREATE TABLE ledger_marks (
      id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
      app_id uuid NOT NULL,
      environment text NOT NULL,
      day date NOT NULL
    );
    CREATE INDEX ledger_marks_day ON ledger_marks (app_id, environment, day);
    INSERT INTO ledger_marks (app_id, environment, day)
      SELECT app_id, environment, (purchase_date AT TIME ZONE 'UTC')::date FROM transactions
      UNION SELECT app_id, environment, (covered_until AT TIME ZONE 'UTC')::date FROM transactions
        WHERE covered_until IS NOT NULL;

    CREATE FUNCTION ledger_mark() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO ledger_marks (app_id, environment, day)
        SELECT app_id, environment, (purchase_date AT TIME ZONE 'UTC')::date FROM changed
        UNION SELECT app_id, environment, (covered_until AT TIME ZONE 'UTC')::date FROM changed
          WHERE covered_until IS NOT NULL
        UNION SELECT kin.app_id, kin.environment, (kin.purchase_date AT TIME ZONE 'UTC')::date FROM changed
          JOIN transactions kin ON kin.subscription_id = changed.subscription_id;
      RETURN NULL;
    END $$;
    CREATE TRIGGER ledger_inserted AFTER INSERT ON transactions REFERENCING NEW TABLE AS changed
      FOR EACH STATEMENT EXECUTE FUNCTION ledger_mark();
    CREATE TRIGGER ledger_updated_from AFTER UPDATE ON transactions REFERENCING OLD TABLE AS changed
      FOR EACH STATEMENT EXECUTE FUNCTION ledger_mark();
    CREATE TRIGGER ledger_updated_to AFTER UPDATE ON transactions REFERENCING NEW TABLE AS changed
      FOR EACH STATEMENT EXECUTE FUNCTION ledger_mark();
    CREATE TRIGGER ledger_deleted AFTER DELETE ON transactions REFERENCING OLD TABLE AS changed
      FOR EACH STATEMENT EXECUTE FUNCTION ledger_mark();

    CREATE INDEX customers_borne ON customers (app_id, merged_into DESC) WHERE merged_into IS NOT NULL;
    CREATE INDEX customers_counted ON customers (app_id, first_seen) WHERE merged_into IS NULL;
    DROP INDEX customers_first_seen;
    CREATE INDEX grants_app ON grants (app_id);
    CREATE INDEX transactions_day ON transactions (app_id, ((purchase_date AT TIME ZONE 'UTC')::date), id DESC);
    CREATE INDEX store_notifications_state ON store_notifications (app_id, state, id DESC) WHERE state <> 'applied';

    ALTER TABLE webhook_deliveries ADD COLUMN lost text
      GENERATED ALWAYS AS (CASE WHEN state IN ('exhausted', 'canceled') THEN state END) STORED;
    CREATE INDEX webhook_deliveries_lost ON webhook_deliveries (owner_id, lost, id DESC) WHERE lost IS NOT NULL;
    CREATE INDEX webhook_deliveries_event_type ON webhook_deliveries (owner_id, event, id DESC);
  `
)
