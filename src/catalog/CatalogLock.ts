import { SqlClient, SqlError } from "@effect/sql"
import { Context, Effect, Layer } from "effect"
import type { AppId } from "./domain/App.ts"

/**
 * One writer per catalogue. Names that must exist, flags that move and identifiers that several records share are read
 * and written by one call after the other; reads wait for nobody.
 */
export class CatalogLock extends Context.Tag("gatehouse/catalog/CatalogLock")<
  CatalogLock,
  {
    /** Runs the change in one transaction (joining the one that is open) as the only writer of the app's catalogue. */
    readonly writing: <A, E>(
      appId: AppId,
      change: Effect.Effect<A, E>
    ) => Effect.Effect<A, Exclude<E, SqlError.SqlError>>
  }
>() {
  static readonly layer = Layer.effect(
    CatalogLock,
    Effect.map(SqlClient.SqlClient, (sql) => {
      const lock = (appId: AppId) => sql`SELECT pg_advisory_xact_lock(hashtextextended(${`catalog:${appId}`}, 0))`
      return CatalogLock.of({
        writing: (appId, change) =>
          Effect.catchIf(
            sql.withTransaction(Effect.zipRight(lock(appId), change)),
            (error) => error instanceof SqlError.SqlError,
            Effect.die
          )
      })
    })
  )
}
