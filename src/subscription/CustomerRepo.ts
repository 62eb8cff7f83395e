import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
import { AppId } from "../catalog/domain/App.ts"
import { AppUserId, Customer, CustomerId } from "./domain/Customer.ts"

export class CustomerRepo extends Effect.Service<CustomerRepo>()("gatehouse/subscription/CustomerRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /** False when the app knows the customer already. */
    const insert = Effect.fn("CustomerRepo.insert")(
      (appId: AppId, customer: Customer) =>
        Effect.flatMap(
          Schema.encode(Customer)(customer),
          (row) => sql`
            INSERT INTO customers ${sql.insert({ ...row, appId })}
            ON CONFLICT (app_id, app_user_id) DO NOTHING RETURNING id`
        ),
      Effect.map((rows) => rows.length === 1),
      Effect.orDie
    )
    const byAppUserId = Effect.fn("CustomerRepo.byAppUserId")(
      SqlSchema.findOne({
        Request: Schema.Struct({ appId: AppId, appUserId: AppUserId }),
        Result: Customer,
        execute: ({ appId, appUserId }) =>
          sql`SELECT * FROM customers WHERE app_id = ${appId} AND app_user_id = ${appUserId}`
      }),
      Effect.orDie
    )
    const byId = Effect.fn("CustomerRepo.byId")(
      SqlSchema.single({
        Request: CustomerId,
        Result: Customer,
        execute: (id) => sql`SELECT * FROM customers WHERE id = ${id}`
      }),
      Effect.orDie
    )
    const touch = Effect.fn("CustomerRepo.touch")(
      (appId: AppId, appUserId: AppUserId, lastSeen: Date) => sql`
        UPDATE customers SET last_seen = ${lastSeen}
        WHERE app_id = ${appId} AND app_user_id = ${appUserId} AND last_seen < ${lastSeen}`,
      Effect.asVoid,
      Effect.orDie
    )
    return { insert, byAppUserId, byId, touch } as const
  })
}) {}
