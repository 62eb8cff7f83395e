import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * A statement of a store is written in one go, on the strength of a look that was taken without a lock. `purchase_hold`
 * takes the lock of the chain, holds the customer, and says whether the look still holds: of a function each statement
 * sees what was committed when it begins, so what is checked after the lock is what stays until the end.
 *
 * An upsert also ends in the triggers of updates, most often with no row: there is nothing to mark then.
 */
export default Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    CREATE FUNCTION purchase_hold(
      of_app uuid, of_store text, of_environment text, of_original text,
      chain uuid, is_new boolean, facts text[], customer uuid, is_erased boolean, notification text
    ) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
      PERFORM pg_advisory_xact_lock(hashtextextended(of_app || ':' || of_store || ':' || of_original, 0));
      IF EXISTS (
        SELECT FROM store_notifications
        WHERE app_id = of_app AND store = of_store AND notification_id = notification
      ) THEN RETURN false; END IF;
      IF customer IS NOT NULL THEN
        PERFORM FROM customers WHERE id = customer AND merged_into IS NULL AND (erased_at IS NOT NULL) = is_erased
          FOR SHARE;
        IF NOT FOUND THEN RETURN false; END IF;
      END IF;
      IF is_new THEN RETURN NOT EXISTS (
        SELECT FROM subscriptions WHERE app_id = of_app AND store = of_store AND environment = of_environment
          AND original_transaction_id = of_original
      ); END IF;
      RETURN EXISTS (
        SELECT FROM subscriptions JOIN customers ON customers.id = subscriptions.customer_id
        WHERE subscriptions.id = chain AND coalesce(customers.merged_into, customers.id) = customer
      ) AND cardinality(facts) = (
        SELECT count(*) FILTER (WHERE fact_id = ANY (facts)) FROM store_facts
        WHERE subscription_id = chain HAVING count(*) = cardinality(facts)
      );
    END $$;

    CREATE OR REPLACE FUNCTION ledger_mark() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NOT EXISTS (SELECT FROM changed) THEN RETURN NULL; END IF;
      INSERT INTO ledger_marks (app_id, environment, day)
        SELECT app_id, environment, (purchase_date AT TIME ZONE 'UTC')::date FROM changed
        UNION SELECT app_id, environment, (covered_until AT TIME ZONE 'UTC')::date FROM changed
          WHERE covered_until IS NOT NULL
        UNION SELECT kin.app_id, kin.environment, (kin.purchase_date AT TIME ZONE 'UTC')::date FROM changed
          JOIN transactions kin ON kin.subscription_id = changed.subscription_id;
      RETURN NULL;
    END $$;
  `
)
