import { SqlClient, SqlSchema } from "@effect/sql"
import { Array, Effect, Schema } from "effect"
import { AppId } from "../catalog/domain/App.ts"
import { PurchaseFact } from "../store/domain/PurchaseFact.ts"
import { WaitingNotification } from "./domain/Inbox.ts"
import { Subscription, SubscriptionId } from "./domain/Subscription.ts"

const Moment = Schema.DateTimeUtcFromDate

/** What is due by then, of one app; whoever takes it keeps it from others until `leaseUntil`. */
const Taking = Schema.Struct({ appId: AppId, now: Moment, leaseUntil: Moment, limit: Schema.Int })

export const EndedSubscription = Schema.Struct({ id: SubscriptionId, state: Subscription })
export type EndedSubscription = typeof EndedSubscription.Type

/** Rows that have a due moment, over the tables of the context. */
export class AgendaRepo extends Effect.Service<AgendaRepo>()("gatehouse/subscription/AgendaRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const appsDue = Effect.fn("AgendaRepo.appsDue")(
      SqlSchema.findAll({
        Request: Schema.Struct({ now: Moment, limit: Schema.Int }),
        Result: Schema.Struct({ appId: AppId }),
        execute: ({ limit, now }) => sql`
          SELECT app_id FROM (
            (SELECT app_id FROM store_notifications WHERE due_at <= ${now} ORDER BY due_at LIMIT ${limit})
            UNION (SELECT app_id FROM subscriptions WHERE look_at <= ${now} ORDER BY look_at LIMIT ${limit})
            UNION (SELECT app_id FROM store_tokens WHERE acknowledge_due_at <= ${now} AND acknowledged_at IS NULL
              ORDER BY acknowledge_due_at LIMIT ${limit})
            UNION (SELECT app_id FROM store_catch_ups WHERE due_at <= ${now} ORDER BY due_at LIMIT ${limit})
          ) AS due`
      }),
      Effect.map(Array.map(({ appId }) => appId)),
      Effect.orDie
    )
    const takeNotifications = Effect.fn("AgendaRepo.takeNotifications")(
      SqlSchema.findAll({
        Request: Taking,
        Result: WaitingNotification,
        execute: ({ appId, leaseUntil, limit, now }) => sql`
          UPDATE store_notifications SET due_at = ${leaseUntil}, attempts = store_notifications.attempts + 1 FROM (
            SELECT id FROM store_notifications WHERE app_id = ${appId} AND due_at <= ${now}
            ORDER BY due_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
          ) AS due
          WHERE store_notifications.id = due.id
          RETURNING store_notifications.id, store, payload, attempts`
      }),
      Effect.orDie
    )
    const takeEnded = Effect.fn("AgendaRepo.takeEnded")(
      SqlSchema.findAll({
        Request: Taking,
        Result: EndedSubscription,
        execute: ({ appId, leaseUntil, limit, now }) => sql`
          UPDATE subscriptions SET look_at = ${leaseUntil} FROM (
            SELECT id FROM subscriptions WHERE app_id = ${appId} AND look_at <= ${now}
            ORDER BY look_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
          ) AS due
          WHERE subscriptions.id = due.id RETURNING subscriptions.id, state`
      }),
      Effect.orDie
    )
    const latestFact = Effect.fn("AgendaRepo.latestFact")(
      SqlSchema.findOne({
        Request: SubscriptionId,
        Result: Schema.Struct({ fact: PurchaseFact }),
        execute: (id) => sql`
          SELECT fact FROM store_facts WHERE subscription_id = ${id} ORDER BY signed_at DESC, fact_id DESC LIMIT 1`
      }),
      Effect.orDie
    )
    /** Only where nothing was applied since it was taken: what applies says itself when to look again. */
    const lookAgainAt = Effect.fn("AgendaRepo.lookAgainAt")(
      SqlSchema.void({
        Request: Schema.Struct({ id: SubscriptionId, leaseUntil: Moment, at: Schema.OptionFromNullOr(Moment) }),
        execute: ({ at, id, leaseUntil }) =>
          sql`UPDATE subscriptions SET look_at = ${at} WHERE id = ${id} AND look_at = ${leaseUntil}`
      }),
      Effect.orDie
    )
    return { appsDue, takeNotifications, takeEnded, latestFact, lookAgainAt } as const
  })
}) {}
