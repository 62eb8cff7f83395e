import { SqlClient, SqlSchema } from "@effect/sql"
import { DateTime, Effect, Schema } from "effect"
import { AppId } from "../catalog/domain/App.ts"
import { AppUserId, CustomerId } from "./domain/Customer.ts"
import { DomainEventId } from "./domain/DomainEvent.ts"

const Named = Schema.Struct({ appId: AppId, appUserId: AppUserId })
const Told = Schema.Struct({ id: DomainEventId, data: Schema.Unknown })

export class ErasureRepo extends Effect.Service<ErasureRepo>()("gatehouse/subscription/ErasureRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /** The living customer to whom the name leads, closed to everyone until the transaction ends. */
    const lock = Effect.fn("ErasureRepo.lock")(
      SqlSchema.findOne({
        Request: Named,
        Result: Schema.Struct({ id: CustomerId }),
        execute: ({ appId, appUserId }) => sql`
          SELECT customers.id FROM customers named
          JOIN customers ON customers.id = coalesce(named.merged_into, named.id)
          WHERE named.app_id = ${appId} AND named.app_user_id = ${appUserId}
            AND customers.merged_into IS NULL AND customers.erased_at IS NULL
          FOR UPDATE OF customers`
      }),
      Effect.orDie
    )
    const names = Effect.fn("ErasureRepo.names")(
      SqlSchema.findAll({
        Request: CustomerId,
        Result: Schema.Struct({ appUserId: AppUserId }),
        execute: (id) => sql`SELECT app_user_id FROM customers WHERE id = ${id} OR merged_into = ${id}`
      }),
      Effect.orDie
    )
    const eventsOf = Effect.fn("ErasureRepo.eventsOf")(
      SqlSchema.findAll({
        Request: Schema.Struct({ appId: AppId, names: Schema.Array(AppUserId) }),
        Result: Told,
        execute: (person) => sql`
          SELECT id, data FROM domain_events WHERE app_id = ${person.appId} AND app_user_id = ANY(${person.names})`
      }),
      Effect.orDie
    )
    const rewriteEvents = Effect.fn("ErasureRepo.rewriteEvents")(
      (appUserId: AppUserId, events: ReadonlyArray<typeof Told.Type>) =>
        Effect.flatMap(
          Schema.encode(Schema.parseJson(Schema.Array(Told)))(events),
          (rows) => sql`
            UPDATE domain_events SET app_user_id = ${appUserId}, data = told.data
            FROM jsonb_to_recordset(${rows}::jsonb) AS told(id uuid, data jsonb) WHERE domain_events.id = told.id`
        ),
      Effect.asVoid,
      Effect.orDie
    )
    /** Takes the person out of what the stores said: the account token, and the signed words that carry it. */
    const silenceStores = Effect.fn("ErasureRepo.silenceStores")(function* (id: CustomerId) {
      yield* sql`
        UPDATE store_notifications SET payload = '' FROM store_facts
        JOIN subscriptions ON subscriptions.id = store_facts.subscription_id
        WHERE subscriptions.customer_id = ${id} AND store_notifications.app_id = subscriptions.app_id
          AND store_notifications.store = subscriptions.store
          AND store_notifications.notification_id = store_facts.fact_id`
      yield* sql`
        UPDATE store_facts SET fact = fact || '{"accountToken": null}' FROM subscriptions
        WHERE subscriptions.id = store_facts.subscription_id AND subscriptions.customer_id = ${id}`
    }, Effect.orDie)

    /** Leaves an anonymous row that holds subscriptions and transactions together. */
    const bury = Effect.fn("ErasureRepo.bury")(function* (id: CustomerId, appUserId: AppUserId, now: DateTime.Utc) {
      yield* sql`DELETE FROM grants WHERE customer_id = ${id}`
      yield* sql`DELETE FROM customers WHERE merged_into = ${id}`
      yield* sql`
        UPDATE customers SET app_user_id = ${appUserId}, original_app_user_id = NULL, is_anonymous = true,
          erased_at = ${DateTime.toDateUtc(now)} WHERE id = ${id}`
    }, Effect.orDie)

    return { lock, names, eventsOf, rewriteEvents, silenceStores, bury } as const
  })
}) {}
