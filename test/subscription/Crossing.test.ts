import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Deferred, Effect, Exit, Fiber, Option } from "effect"
import type { AppId } from "../../src/catalog/domain/App.ts"
import { type CustomerNotFound, Customers } from "../../src/subscription/Customers.ts"
import { AppUserId } from "../../src/subscription/domain/Customer.ts"
import { Erasure } from "../../src/subscription/Erasure.ts"
import { type GrantRefused, Grants } from "../../src/subscription/Grants.ts"
import { type AlreadyNamed, Identities, type NameIsAnonymous } from "../../src/subscription/Identities.ts"
import { Purchases } from "../../src/subscription/Purchases.ts"
import { Outbox } from "../../src/webhook/Outbox.ts"
import { chainFact } from "../support/PurchaseFacts.ts"
import { until } from "../support/Until.ts"
import { makeApp, services } from "./Holder.ts"

const stranger = AppUserId.make("$anonymous:1")
const ann = AppUserId.make("ann")

/** Everything that may be done with one person, each as its endpoint does it. */
const deeds = {
  "a first purchase": (appId: AppId) =>
    Effect.flatMap(Purchases, ({ apply }) => apply(appId, chainFact("new", 0, stranger))),
  "a renewal": (appId: AppId) => Effect.flatMap(Purchases, ({ apply }) => apply(appId, chainFact("old", 1, stranger))),
  "a grant": (appId: AppId) =>
    Effect.flatMap(Grants, ({ give }) =>
      Effect.asVoid(give(appId, stranger, { entitlementIdentifier: "pro", expiresDate: Option.none() }))
    ),
  "a name": (appId: AppId) => Effect.flatMap(Identities, ({ identify }) => identify(appId, stranger, ann)),
  "an erasure": (appId: AppId) => Effect.flatMap(Erasure, ({ erase }) => Effect.asVoid(erase(appId, stranger))),
  "a sighting": (appId: AppId) => Effect.flatMap(Customers, ({ seen }) => Effect.asVoid(seen(appId, stranger)))
}

type Deed = keyof typeof deeds
const names: ReadonlyArray<Deed> = ["a first purchase", "a renewal", "a grant", "a name", "an erasure", "a sighting"]

const perform = (
  deed: Deed,
  appId: AppId
): Effect.Effect<
  void,
  CustomerNotFound | GrantRefused | AlreadyNamed | NameIsAnonymous,
  Customers | Erasure | Grants | Identities | Purchases
> => deeds[deed](appId)

const waiting = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
).pipe(
  Effect.map((rows) => rows.length),
  Effect.orDie
)

/** Does the first, keeps it from committing until the second waits for it or is done, and answers how both ended. */
const cross = Effect.fn(function* (appId: AppId, first: Deed, second: Deed) {
  const outbox = yield* Outbox
  const isDone = yield* Deferred.make<void>()
  const mayCommit = yield* Deferred.make<void>()
  const one = yield* perform(first, appId).pipe(
    Effect.zipLeft(Effect.zipRight(Deferred.succeed(isDone, undefined), Deferred.await(mayCommit))),
    outbox.transaction,
    Effect.fork
  )
  yield* Deferred.await(isDone)
  const two = yield* Effect.fork(perform(second, appId))
  yield* until(Effect.zip(waiting, Fiber.poll(two)), ([count, exit]) => count > 0 || Option.isSome(exit))
  yield* Deferred.succeed(mayCommit, undefined)
  return [yield* Fiber.await(one), yield* Fiber.await(two)]
})

layer(services, { excludeTestServices: true })("deeds that cross", (it) => {
  for (const first of names) {
    for (const second of names) {
      it.effect(`${first} and ${second}: both take effect, one after the other`, () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const appId = yield* makeApp
          const { apply } = yield* Purchases
          yield* apply(appId, chainFact("old", 0, stranger))
          const exits = yield* cross(appId, first, second)
          for (const exit of exits) {
            const isMissing = Exit.isFailure(exit) && String(exit.cause).includes("CustomerNotFound")
            assert.isTrue(Exit.isSuccess(exit) || (isMissing && [first, second].includes("an erasure")), String(exit))
          }
          const left = yield* sql`
            SELECT customers.id FROM customers JOIN (
              SELECT customer_id FROM subscriptions UNION ALL SELECT customer_id FROM transactions
              UNION ALL SELECT customer_id FROM grants
            ) AS held ON held.customer_id = customers.id
            WHERE customers.app_id = ${appId} AND customers.merged_into IS NOT NULL`
          deepStrictEqual(left, [])
          const doubled = yield* sql`
            SELECT cause FROM domain_events WHERE app_id = ${appId} AND type = 'customer.created'
            GROUP BY app_id, cause HAVING count(*) > 1`
          deepStrictEqual(doubled, [])
          const chains = yield* sql`SELECT DISTINCT original_transaction_id FROM subscriptions WHERE app_id = ${appId}`
          assert.strictEqual(chains.length, [first, second].includes("a first purchase") ? 2 : 1)
        })
      )
    }
  }
})
