import { Context, DateTime, Effect, Layer, Option } from "effect"
import type { QueryResult } from "pg"
import type { AppStatus } from "../catalog/domain/App.ts"
import { DatabasePool } from "../sql/Database.ts"
import type { OwnedSubscription, Unlock } from "./domain/Access.ts"
import { type StoredCustomer, subscriberOf, type SubscriberView } from "./domain/SubscriberView.ts"

interface SubscriberRow {
  readonly status: AppStatus
  readonly app_user_id: string
  readonly is_anonymous: boolean
  readonly first_seen: Date
  readonly last_seen: Date
  readonly owned: ReadonlyArray<OwnedSubscription>
  readonly unlocks: ReadonlyArray<Unlock>
}

/** An app by its id, or by the public key that a client presents. */
export type AppReference = { readonly appId: string } | { readonly publicApiKey: string }

const statement = (app: string) => `
  SELECT apps.status, customers.app_user_id, customers.is_anonymous, customers.first_seen, customers.last_seen,
    coalesce((
      SELECT jsonb_agg(jsonb_build_object('id', subscriptions.id, 'subscription', subscriptions.state))
      FROM subscriptions WHERE subscriptions.customer_id = customers.id
    ), '[]') AS owned,
    coalesce((
      SELECT jsonb_agg(jsonb_build_object('store', products.store, 'productIdentifier', products.identifier,
        'entitlementIdentifier', entitlements.identifier))
      FROM subscriptions
      JOIN products ON products.app_id = subscriptions.app_id AND products.store = subscriptions.store
        AND products.identifier = subscriptions.product_identifier
      JOIN entitlement_products ON entitlement_products.product_id = products.id
      JOIN entitlements ON entitlements.id = entitlement_products.entitlement_id
      WHERE subscriptions.customer_id = customers.id
    ), '[]') AS unlocks
  FROM apps JOIN customers ON customers.app_id = apps.id
  WHERE ${app} = $1 AND customers.app_user_id = $2`

/** Prepared by name: every phone of every user asks the second of these. */
export const statements = {
  byId: { name: "subscriber_by_app_id", text: statement("apps.id") },
  byKey: { name: "subscriber_by_app_key", text: statement("apps.public_api_key") }
}

export interface SubscriberRead {
  readonly appStatus: AppStatus
  readonly lastSeen: DateTime.Utc
  readonly view: SubscriberView
}

/** The one hot read of the subscription side: everything about one subscriber in one statement. */
export class SubscriberReader extends Context.Tag("gatehouse/subscription/SubscriberReader")<
  SubscriberReader,
  {
    /** None when there is no such app or customer. Activity is as of now. */
    readonly read: (app: AppReference, appUserId: string) => Effect.Effect<Option.Option<SubscriberRead>>
  }
>() {
  static readonly layer = Layer.effect(
    SubscriberReader,
    Effect.gen(function* () {
      const pool = yield* DatabasePool

      const query = (app: AppReference, appUserId: string) =>
        Effect.async<QueryResult<SubscriberRow>>((resume) => {
          const [prepared, key] = "appId" in app ? [statements.byId, app.appId] : [statements.byKey, app.publicApiKey]
          pool.query<SubscriberRow>({ ...prepared, values: [key, appUserId] }, (error, result) =>
            resume(error ? Effect.die(error) : Effect.succeed(result))
          )
        })

      return SubscriberReader.of({
        read: (app, appUserId) =>
          Effect.zipWith(query(app, appUserId), DateTime.now, ({ rows }, now) =>
            Option.map(Option.fromNullable(rows[0]), (row) => ({
              appStatus: row.status,
              lastSeen: DateTime.unsafeFromDate(row.last_seen),
              view: subscriberOf(customerOf(row), row.owned, row.unlocks, DateTime.formatIso(now))
            }))
          )
      })
    })
  )
}

const customerOf = (row: SubscriberRow): StoredCustomer => ({
  appUserId: row.app_user_id,
  isAnonymous: row.is_anonymous,
  firstSeen: row.first_seen.toISOString(),
  lastSeen: row.last_seen.toISOString()
})
