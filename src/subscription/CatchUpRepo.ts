import { SqlClient, SqlSchema } from "@effect/sql"
import { DateTime, Effect, Schema } from "effect"
import { AppId } from "../catalog/domain/App.ts"
import { Environment } from "../store/domain/PurchaseFact.ts"

const Moment = Schema.DateTimeUtcFromDate
const Place = { appId: AppId, environment: Environment }

const CatchUp = Schema.Struct({
  environment: Environment,
  caughtUpTo: Schema.OptionFromNullOr(Moment),
  attempts: Schema.Int
})

/** Up to when what a store told is known to have come; a row that is not due is in step with the store. */
export class CatchUpRepo extends Effect.Service<CatchUpRepo>()("gatehouse/subscription/CatchUpRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const rowsOf = (apps: ReadonlyArray<AppId>, due: DateTime.Utc) =>
      apps.flatMap((appId) =>
        Environment.literals.map((environment) => ({ appId, environment, dueAt: DateTime.toDateUtc(due) }))
      )
    /** Whatever the store told these apps is to be asked for, from where they were left. */
    const planAll = Effect.fn("CatchUpRepo.planAll")(function* (apps: ReadonlyArray<AppId>, now: DateTime.Utc) {
      if (apps.length === 0) return
      yield* sql`
        INSERT INTO store_catch_ups ${sql.insert(rowsOf(apps, now))}
        ON CONFLICT (app_id, environment) DO UPDATE SET due_at = excluded.due_at`
    }, Effect.orDie)
    /** The same for those that were never asked for; the others are in step until now. */
    const planNew = Effect.fn("CatchUpRepo.planNew")(function* (apps: ReadonlyArray<AppId>, now: DateTime.Utc) {
      yield* sql`UPDATE store_catch_ups SET caught_up_to = ${DateTime.toDateUtc(now)} WHERE due_at IS NULL`
      if (apps.length === 0) return
      yield* sql`INSERT INTO store_catch_ups ${sql.insert(rowsOf(apps, now))} ON CONFLICT DO NOTHING`
    }, Effect.orDie)
    /** Takes what is due for itself: until `leaseUntil` nobody else gets it. */
    const takeDue = Effect.fn("CatchUpRepo.takeDue")(
      SqlSchema.findAll({
        Request: Schema.Struct({ appId: AppId, now: Moment, leaseUntil: Moment }),
        Result: CatchUp,
        execute: ({ appId, leaseUntil, now }) => sql`
          UPDATE store_catch_ups SET due_at = ${leaseUntil}, attempts = store_catch_ups.attempts + 1 FROM (
            SELECT app_id, environment FROM store_catch_ups WHERE app_id = ${appId} AND due_at <= ${now}
            FOR UPDATE SKIP LOCKED
          ) AS due
          WHERE store_catch_ups.app_id = due.app_id AND store_catch_ups.environment = due.environment
          RETURNING store_catch_ups.environment, caught_up_to, attempts`
      }),
      Effect.orDie
    )
    const caughtUp = Effect.fn("CatchUpRepo.caughtUp")(
      SqlSchema.void({
        Request: Schema.Struct({ ...Place, to: Moment }),
        execute: ({ appId, environment, to }) => sql`
          UPDATE store_catch_ups SET caught_up_to = ${to}, due_at = NULL, attempts = 0
          WHERE app_id = ${appId} AND environment = ${environment}`
      }),
      Effect.orDie
    )
    const postpone = Effect.fn("CatchUpRepo.postpone")(
      SqlSchema.void({
        Request: Schema.Struct({ ...Place, dueAt: Moment }),
        execute: ({ appId, dueAt, environment }) => sql`
          UPDATE store_catch_ups SET due_at = ${dueAt} WHERE app_id = ${appId} AND environment = ${environment}`
      }),
      Effect.orDie
    )
    /** Something that the store told could not be taken: it is to be asked for again, from where the app was last in step. */
    const missed = Effect.fn("CatchUpRepo.missed")(
      SqlSchema.void({
        Request: Schema.Struct({ appId: AppId, dueAt: Moment }),
        execute: ({ appId, dueAt }) => sql`
          UPDATE store_catch_ups SET due_at = ${dueAt} WHERE app_id = ${appId} AND due_at IS NULL`
      }),
      Effect.orDie
    )
    /** There is nothing to ask the store with. */
    const forget = Effect.fn("CatchUpRepo.forget")(
      SqlSchema.void({
        Request: Schema.Struct(Place),
        execute: ({ appId, environment }) =>
          sql`DELETE FROM store_catch_ups WHERE app_id = ${appId} AND environment = ${environment}`
      }),
      Effect.orDie
    )
    return { planAll, planNew, takeDue, caughtUp, postpone, missed, forget } as const
  })
}) {}
