import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
import { tallies } from "./LedgerTallies.ts"

/** Days that one transaction settles: it holds nothing that a purchase waits for. */
const batch = 50
const settleLock = 7_426_002

/** The sums of past days, and the marks on days that have changed since. Each method belongs in a transaction. */
export class LedgerDaysRepo extends Effect.Service<LedgerDaysRepo>()("gatehouse/subscription/LedgerDaysRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /** One moment of the ledger for all that follows; compiling these sums would take longer than they do. */
    const snapshot = sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ`.pipe(
      Effect.zipRight(sql`SET LOCAL jit = off`),
      Effect.asVoid,
      Effect.orDie
    )
    /** False while another program settles. */
    const lock = SqlSchema.single({
      Request: Schema.Void,
      Result: Schema.Struct({ isAlone: Schema.Boolean }),
      execute: () => sql`SELECT pg_try_advisory_xact_lock(${settleLock}) AS is_alone`
    })(undefined).pipe(
      Effect.map(({ isAlone }) => isAlone),
      Effect.orDie
    )
    /** Of the marks on days that are not over one of each day is kept. */
    const thinMarks = sql`
      DELETE FROM ledger_marks USING (
        SELECT app_id, environment, day, max(id) AS last FROM ledger_marks
        WHERE day >= (now() AT TIME ZONE 'UTC')::date GROUP BY 1, 2, 3
      ) AS kept
      WHERE ledger_marks.app_id = kept.app_id AND ledger_marks.environment = kept.environment
      AND ledger_marks.day = kept.day AND ledger_marks.id < kept.last`.pipe(Effect.asVoid, Effect.orDie)

    /** Sums up some past days that are marked and answers how many: the sums replace what was there, the marks go. */
    const settle = sql`
      WITH changed AS (
        SELECT DISTINCT app_id, environment, day FROM ledger_marks
        WHERE day < (now() AT TIME ZONE 'UTC')::date LIMIT ${batch}
      ), spans AS (
        SELECT app_id, environment, day::timestamp AT TIME ZONE 'UTC' AS since,
          (day + 1)::timestamp AT TIME ZONE 'UTC' AS at, (day + 1)::timestamp AT TIME ZONE 'UTC' AS until FROM changed
      ), seen AS (
        DELETE FROM ledger_marks USING changed
        WHERE ledger_marks.app_id = changed.app_id AND ledger_marks.environment = changed.environment
        AND ledger_marks.day = changed.day
      ), old AS (
        DELETE FROM ledger_days USING changed
        WHERE ledger_days.app_id = changed.app_id AND ledger_days.environment = changed.environment
        AND ledger_days.day = changed.day
      ), new AS (
        INSERT INTO ledger_days (app_id, environment, day, kind, store, product_identifier, period_type, currency,
          price_micros, days, count, micros, refund_micros)
        ${tallies(sql, ["began", "ended", "sold", "first_paid", "trial", "conversion", "joined"])}
      )
      SELECT day FROM changed`.pipe(
      Effect.map((rows) => rows.length),
      Effect.orDie
    )
    return { snapshot, lock, thinMarks, settle } as const
  })
}) {}
