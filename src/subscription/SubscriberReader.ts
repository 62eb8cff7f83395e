import { Context, Effect, Layer, Option, Schema } from "effect"
import type { QueryResult } from "pg"
import type { AppId } from "../catalog/domain/App.ts"
import { StoreName } from "../catalog/domain/Product.ts"
import { DatabasePool } from "../sql/Database.ts"
import type { Unlock } from "./domain/Access.ts"
import { AppUserId, Customer, CustomerId } from "./domain/Customer.ts"
import type { OwnedSubscription } from "./domain/SubscriberView.ts"
import { Subscription, SubscriptionId } from "./domain/Subscription.ts"

export interface SubscriberRead {
  readonly customer: Customer
  readonly owned: ReadonlyArray<OwnedSubscription>
  readonly unlocks: ReadonlyArray<Unlock>
}

const decodeRow = Schema.decodeUnknown(
  Schema.Struct({
    id: CustomerId,
    app_user_id: AppUserId,
    is_anonymous: Schema.Boolean,
    first_seen: Schema.DateTimeUtcFromDate,
    last_seen: Schema.DateTimeUtcFromDate,
    owned: Schema.Array(Schema.Struct({ id: SubscriptionId, subscription: Subscription })),
    unlocks: Schema.Array(
      Schema.Struct({ store: StoreName, productIdentifier: Schema.String, entitlementIdentifier: Schema.String })
    )
  })
)

/** Everything about one subscriber in one statement, prepared by name: every phone of every user asks this. */
export const subscriberStatement = {
  name: "subscriber",
  text: `
    SELECT customers.id, customers.app_user_id, customers.is_anonymous, customers.first_seen, customers.last_seen,
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
    FROM customers WHERE customers.app_id = $1 AND customers.app_user_id = $2`
}

/** The one hot read of the subscription side. None when the app has no such customer. */
export class SubscriberReader extends Context.Tag("gatehouse/subscription/SubscriberReader")<
  SubscriberReader,
  { readonly read: (appId: AppId, appUserId: AppUserId) => Effect.Effect<Option.Option<SubscriberRead>> }
>() {
  static readonly layer = Layer.effect(
    SubscriberReader,
    Effect.gen(function* () {
      const pool = yield* DatabasePool

      const rowsOf = (appId: AppId, appUserId: AppUserId) =>
        Effect.async<QueryResult<Record<string, unknown>>, Error>((resume) => {
          pool.query({ ...subscriberStatement, values: [appId, appUserId] }, (error, result) =>
            resume(error ? Effect.fail(error) : Effect.succeed(result))
          )
        })

      const read = Effect.fn("SubscriberReader.read")(function* (appId: AppId, appUserId: AppUserId) {
        const { rows } = yield* rowsOf(appId, appUserId)
        const row = rows[0]
        if (row === undefined) return Option.none()
        const { app_user_id, first_seen, id, is_anonymous, last_seen, owned, unlocks } = yield* decodeRow(row)
        const customer = Customer.make({
          id,
          appUserId: app_user_id,
          isAnonymous: is_anonymous,
          firstSeen: first_seen,
          lastSeen: last_seen
        })
        return Option.some({ customer, owned, unlocks })
      }, Effect.orDie)

      return SubscriberReader.of({ read })
    })
  )
}
