import { Migrator, SqlClient } from "@effect/sql"
import { Effect, Layer } from "effect"
import identity from "./migrations/0001_identity.ts"
import catalog from "./migrations/0002_catalog.ts"
import webhook from "./migrations/0003_webhook.ts"
import subscription from "./migrations/0004_subscription.ts"
import channel from "./migrations/0005_channel.ts"
import reply from "./migrations/0006_reply.ts"

const loader = Migrator.fromRecord({
  "0001_identity": identity,
  "0002_catalog": catalog,
  "0003_webhook": webhook,
  "0004_subscription": subscription,
  "0005_channel": channel,
  "0006_reply": reply
})

const migrateLock = 7_426_001

const pending = Migrator.make({})({ loader, table: "schema_migrations" })

/**
 * Applies what is missing, forward only. An advisory lock held by one reserved connection makes several programs that
 * start at once wait for each other. Answers the ids and names of what was applied.
 */
export const migrate = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const connection = yield* sql.reserve
  yield* Effect.acquireRelease(connection.executeUnprepared(`SELECT pg_advisory_lock(${migrateLock})`, [], undefined), () =>
    Effect.ignoreLogged(connection.executeUnprepared(`SELECT pg_advisory_unlock(${migrateLock})`, [], undefined))
  )
  return yield* pending
}).pipe(Effect.scoped)

export const layer = Layer.effectDiscard(migrate)
