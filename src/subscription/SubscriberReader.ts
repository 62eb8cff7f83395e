import { Context, DateTime, Effect, Layer, Option } from "effect"
import type { QueryResult } from "pg"
import type { AppStatus } from "../catalog/domain/App.ts"
import { DatabasePool } from "../sql/Database.ts"
import { CustomerId } from "./domain/Customer.ts"
import { aliasesOf, type Held, holdingsOf } from "./domain/Held.ts"
import { type StoredCustomer, subscriberOf, type SubscriberView } from "./domain/SubscriberView.ts"
import { heldColumn } from "./SubscriberColumns.ts"

interface SubscriberRow {
  readonly status: AppStatus
  readonly id: string
  readonly app_user_id: string
  readonly original_app_user_id: string | null
  readonly is_anonymous: boolean
  readonly first_seen: Date
  readonly last_seen: Date
  readonly held: ReadonlyArray<Held>
}

/** An app by its id, or by the public key that a client presents. */
export type AppReference = { readonly appId: string } | { readonly publicApiKey: string }

const statement = (app: string) => `
  SELECT apps.status, customers.id, customers.app_user_id, customers.original_app_user_id, customers.is_anonymous,
    customers.first_seen, customers.last_seen, ${heldColumn}
  FROM apps
  JOIN customers named ON named.app_id = apps.id AND named.app_user_id = $2
  JOIN customers ON customers.id = coalesce(named.merged_into, named.id)
  WHERE ${app} = $1 AND customers.erased_at IS NULL`

/** Prepared by name: every phone of every user asks the second of these. */
export const statements = {
  byId: { name: "subscriber_by_app_id", text: statement("apps.id") },
  byKey: { name: "subscriber_by_app_key", text: statement("apps.public_api_key") }
}

export interface SubscriberRead {
  readonly appStatus: AppStatus
  readonly customerId: CustomerId
  readonly lastSeen: DateTime.Utc
  readonly view: SubscriberView
}

/** The one hot read of the subscription side: everything about one subscriber in one statement. */
export class SubscriberReader extends Context.Tag("gatehouse/subscription/SubscriberReader")<
  SubscriberReader,
  {
    /**
     * None when there is no such app or customer, or the customer was erased. A merged name leads to its customer. Reads
     * what is committed: it has a connection of its own, inside a transaction too.
     */
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
              customerId: CustomerId.make(row.id),
              lastSeen: DateTime.unsafeFromDate(row.last_seen),
              view: subscriberOf(customerOf(row), holdingsOf(row.held), DateTime.formatIso(now))
            }))
          )
      })
    })
  )
}

const customerOf = (row: SubscriberRow): StoredCustomer => ({
  appUserId: row.app_user_id,
  originalAppUserId: row.original_app_user_id,
  isAnonymous: row.is_anonymous,
  firstSeen: row.first_seen.toISOString(),
  lastSeen: row.last_seen.toISOString(),
  aliases: aliasesOf(row.held)
})
