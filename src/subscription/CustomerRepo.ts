import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Option, Schema } from "effect"
import { AppId } from "../catalog/domain/App.ts"
import { AppUserId, Customer, CustomerId } from "./domain/Customer.ts"

const Named = Schema.Struct({ appId: AppId, appUserId: AppUserId })

export class CustomerRepo extends Effect.Service<CustomerRepo>()("gatehouse/subscription/CustomerRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /** False when the app knows the name already. */
    const insert = Effect.fn("CustomerRepo.insert")(
      (appId: AppId, customer: Customer) =>
        Effect.flatMap(
          Schema.encode(Customer)(customer),
          (row) => sql`/* prepared: customer_insert */
            INSERT INTO customers ${sql.insert({ ...row, appId })}
            ON CONFLICT (app_id, app_user_id) DO NOTHING RETURNING id`
        ),
      Effect.map((rows) => rows.length === 1),
      Effect.orDie
    )

    /**
     * The customer to whom the name leads, held until the transaction ends: nobody merges or erases it meanwhile. Of a
     * customer that was merged or erased while we waited for it, a second look finds what became of the name.
     */
    const held = Effect.fn("CustomerRepo.held")((name: typeof Named.Type) => {
      const look = SqlSchema.findOne({
        Request: Named,
        Result: Customer,
        execute: ({ appId, appUserId }) => sql`/* prepared: customer_held */
            SELECT customers.* FROM customers named
            JOIN customers ON customers.id = coalesce(named.merged_into, named.id)
            WHERE named.app_id = ${appId} AND named.app_user_id = ${appUserId} AND customers.merged_into IS NULL
              AND (customers.erased_at IS NULL OR customers.app_user_id = ${appUserId})
            FOR SHARE OF customers`
      })
      return Effect.flatMap(look(name), (found) => (Option.isSome(found) ? Effect.succeed(found) : look(name)))
    }, Effect.orDie)

    /** The same by id. */
    const heldById = Effect.fn("CustomerRepo.heldById")((id: CustomerId) => {
      const look = SqlSchema.findOne({
        Request: CustomerId,
        Result: Customer,
        execute: (known) => sql`/* prepared: customer_held_by_id */
            SELECT customers.* FROM customers named
            JOIN customers ON customers.id = coalesce(named.merged_into, named.id)
            WHERE named.id = ${known} AND customers.merged_into IS NULL FOR SHARE OF customers`
      })
      return Effect.flatMap(look(id), (found) =>
        Option.isSome(found) ? Effect.succeed(found.value) : Effect.flatten(look(id))
      )
    }, Effect.orDie)
    const idOf = Effect.fn("CustomerRepo.idOf")(
      SqlSchema.findOne({
        Request: Named,
        Result: Schema.Struct({ id: CustomerId }),
        execute: ({ appId, appUserId }) => sql`
          SELECT customers.id FROM customers named
          JOIN customers ON customers.id = coalesce(named.merged_into, named.id)
          WHERE named.app_id = ${appId} AND named.app_user_id = ${appUserId} AND customers.erased_at IS NULL`
      }),
      Effect.map(Option.map(({ id }) => id)),
      Effect.orDie
    )
    const touch = Effect.fn("CustomerRepo.touch")(
      (id: CustomerId, lastSeen: Date) =>
        sql`UPDATE customers SET last_seen = ${lastSeen} WHERE id = ${id} AND last_seen < ${lastSeen}`,
      Effect.asVoid,
      Effect.orDie
    )
    return { insert, held, heldById, idOf, touch } as const
  })
}) {}
