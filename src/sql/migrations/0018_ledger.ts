import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * Transactions are listed in the order of their purchase dates: one index for all, and one for each filter that can be
 * rare. They do what the indexes by id, by day and by purchase date alone did for lists and figures, in fewer writes.
 */
export default Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    CREATE INDEX transactions_listed ON transactions (app_id, purchase_date DESC, id DESC);
    CREATE INDEX transactions_listed_store ON transactions (app_id, store, purchase_date DESC, id DESC);
    CREATE INDEX transactions_listed_product ON transactions (app_id, product_identifier, purchase_date DESC, id DESC);
    CREATE INDEX transactions_listed_environment ON transactions (app_id, environment, purchase_date DESC, id DESC);
    DROP INDEX transactions_app, transactions_day, transactions_purchased, transactions_store, transactions_product,
      transactions_environment, transactions_sold;
  `
)
