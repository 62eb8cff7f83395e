import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * Customers are counted by the day on which they were first seen, like the days of the ledger: no environment is theirs,
 * so their days stand under an empty one. A customer that counts goes only with its app, and its days with it.
 */
export default Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    CREATE FUNCTION customer_mark() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO ledger_marks (app_id, environment, day)
        VALUES (NEW.app_id, '', (NEW.first_seen AT TIME ZONE 'UTC')::date);
      IF TG_OP = 'UPDATE' AND OLD.first_seen <> NEW.first_seen THEN
        INSERT INTO ledger_marks (app_id, environment, day)
          VALUES (OLD.app_id, '', (OLD.first_seen AT TIME ZONE 'UTC')::date);
      END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER customers_joined AFTER INSERT ON customers FOR EACH ROW EXECUTE FUNCTION customer_mark();
    CREATE TRIGGER customers_moved AFTER UPDATE OF first_seen, merged_into ON customers FOR EACH ROW
      WHEN (OLD.first_seen <> NEW.first_seen OR OLD.merged_into IS DISTINCT FROM NEW.merged_into)
      EXECUTE FUNCTION customer_mark();
    INSERT INTO ledger_marks (app_id, environment, day)
      SELECT DISTINCT app_id, '', (first_seen AT TIME ZONE 'UTC')::date FROM customers;
  `
)
