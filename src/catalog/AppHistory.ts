import type { SqlError } from "@effect/sql"
import { Context, type Effect } from "effect"
import type { App, AppId } from "./domain/App.ts"
import type { StoreName } from "./domain/Product.ts"

/**
 * Port: what customers did in an app and who listens to it. The catalogue asks before it changes what others rely on,
 * and tells what changed; who knows is downstream of it.
 */
export class AppHistory extends Context.Tag("gatehouse/catalog/AppHistory")<
  AppHistory,
  {
    readonly hasCustomers: (appId: AppId) => Effect.Effect<boolean>
    /** Whether anything was ever bought as one of these products, as a base plan of one or in a sandbox too. */
    readonly isBought: (
      appId: AppId,
      products: ReadonlyArray<{ readonly store: StoreName; readonly identifier: string }>
    ) => Effect.Effect<boolean>
    /** Runs the change in one transaction with its domain event `app.key_rotated`. */
    readonly keyRotated: <E>(change: Effect.Effect<App, E>) => Effect.Effect<App, E | SqlError.SqlError>
    /** Runs the deletion of an app in one transaction with that of its webhooks; what they still had to send is canceled. */
    readonly forgotten: <E>(
      appId: AppId,
      deletion: Effect.Effect<void, E>
    ) => Effect.Effect<void, E | SqlError.SqlError>
  }
>() {}
