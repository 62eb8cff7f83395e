import { SqlClient, SqlSchema } from "@effect/sql"
import { DateTime, Effect, Option, Schema } from "effect"
import { Customer, CustomerId } from "./domain/Customer.ts"

const Identity = Schema.Struct({ ...Customer.fields, mergedInto: Schema.OptionFromNullOr(CustomerId) })
export type Identity = typeof Identity.Type

export class IdentityRepo extends Effect.Service<IdentityRepo>()("gatehouse/subscription/IdentityRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /** The row that bears the name itself, merged or not, closed to everyone until the transaction ends. */
    const lock = Effect.fn("IdentityRepo.lock")(
      SqlSchema.findOne({
        Request: Schema.Struct({ appId: Schema.UUID, appUserId: Schema.String }),
        Result: Identity,
        execute: ({ appId, appUserId }) =>
          sql`SELECT * FROM customers WHERE app_id = ${appId} AND app_user_id = ${appUserId} FOR UPDATE`
      }),
      Effect.orDie
    )

    /** Everything of one customer becomes the other's; the name keeps leading there. Both must be locked. */
    const merge = Effect.fn("IdentityRepo.merge")(function* (
      from: CustomerId,
      into: {
        readonly id: CustomerId
        readonly originalAppUserId: Option.Option<string>
        readonly firstSeen: DateTime.Utc
        readonly lastSeen: DateTime.Utc
      }
    ) {
      yield* sql`UPDATE subscriptions SET customer_id = ${into.id} WHERE customer_id = ${from}`
      yield* sql`UPDATE transactions SET customer_id = ${into.id} WHERE customer_id = ${from}`
      yield* sql`UPDATE grants SET customer_id = ${into.id} WHERE customer_id = ${from}`
      yield* sql`UPDATE customers SET merged_into = ${into.id} WHERE id = ${from}`
      const columns = {
        originalAppUserId: Option.getOrNull(into.originalAppUserId),
        firstSeen: DateTime.toDateUtc(into.firstSeen),
        lastSeen: DateTime.toDateUtc(into.lastSeen)
      }
      yield* sql`UPDATE customers SET ${sql.update(columns)} WHERE id = ${into.id}`
    }, Effect.orDie)

    return { lock, merge } as const
  })
}) {}
