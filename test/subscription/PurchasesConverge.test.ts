import { SqlClient } from "@effect/sql"
import { layer } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { DateTime, Effect, FastCheck, Ref } from "effect"
import type { AppId } from "../../src/catalog/domain/App.ts"
import { PurchaseFact } from "../../src/store/domain/PurchaseFact.ts"
import { Customers } from "../../src/subscription/Customers.ts"
import { AppUserId } from "../../src/subscription/domain/Customer.ts"
import { Purchases } from "../../src/subscription/Purchases.ts"
import { Outbox } from "../../src/webhook/Outbox.ts"
import { arrivalOf, histories } from "../support/PurchaseHistories.ts"
import { makeApp, services } from "./Holder.ts"

const periodWords = ["started", "trial_started", "renewed", "trial_converted", "product_changed"]

const looks = (fact: PurchaseFact, times: number) =>
  Array.from({ length: times }, (_, nth) =>
    PurchaseFact.make({
      ...fact,
      factId: `look-${nth + 1}`,
      kind: "observed",
      signedAt: DateTime.add(fact.signedAt, { minutes: nth + 1 })
    })
  )

const resultOf = Effect.fn(function* (appId: AppId) {
  const sql = yield* SqlClient.SqlClient
  const view = yield* Effect.flatMap(Customers, ({ subscriber }) => subscriber(appId, AppUserId.make("ann")))
  const states = yield* sql`SELECT state FROM subscriptions WHERE app_id = ${appId} ORDER BY original_transaction_id`
  const ledger = yield* sql`
    SELECT store, environment, store_transaction_id, original_transaction_id, product_identifier, period_type,
      ownership_type, purchase_date, expires_date, refunded_at, refunded_micros, price_micros, currency, covered_until, signed_at,
      subscription_id IS NULL AS is_once
    FROM transactions WHERE app_id = ${appId} ORDER BY store, store_transaction_id`
  const money = yield* sql`
    SELECT currency, sum(price_micros - coalesce(refunded_micros, 0)) FILTER (WHERE refunded_at IS NULL) AS kept FROM transactions
    WHERE app_id = ${appId} GROUP BY currency`
  const events = yield* sql<{ told: string }>`
    SELECT regexp_replace(cause, '^[0-9a-f-]{36}:', '') AS told FROM domain_events
    WHERE app_id = ${appId} AND type NOT LIKE 'customer.%' ORDER BY 1`
  const counted = yield* sql`
    SELECT cause FROM domain_events WHERE app_id = ${appId} GROUP BY cause HAVING count(*) > 1`
  deepStrictEqual(counted, [])
  return {
    entitlements: JSON.stringify(view.entitlements),
    states,
    ledger,
    money,
    events: events.map(({ told }) => told)
  }
})

layer(services, { excludeTestServices: true })("purchases in the database", (it) => {
  it.effect("are the same after any order, repeats, delays and crashes as after the order of their making", () =>
    Effect.gen(function* () {
      const { apply } = yield* Purchases
      const outbox = yield* Outbox
      const [facts = []] = FastCheck.sample(histories(6, 32), { numRuns: 1, seed: 20_261_121 })
      const [arrival = []] = FastCheck.sample(arrivalOf(facts), { numRuns: 1, seed: 4 })
      assertTrue(facts.length >= 200 && arrival.length > facts.length)
      const [ordered, mixed] = [yield* makeApp, yield* makeApp]
      const crashes = yield* Ref.make(0)

      /** Every fifth is done, and undone by the end of the process that did it, before it is done for good. */
      const crashing = (fact: PurchaseFact, nth: number) =>
        Effect.gen(function* () {
          if (nth % 5 === 0) {
            const cut = Effect.zipRight(apply(mixed, fact), Effect.interrupt)
            yield* Effect.exit(Effect.uninterruptible(outbox.transaction(cut)))
            yield* Ref.update(crashes, (count) => count + 1)
          }
          yield* outbox.transaction(apply(mixed, fact))
        })

      yield* Effect.forEach(facts, (fact) => outbox.transaction(apply(ordered, fact)), { discard: true })
      yield* Effect.forEach(arrival, crashing, { concurrency: 4, discard: true })
      assertTrue((yield* Ref.get(crashes)) > 40)
      const { events: wanted, ...before } = yield* resultOf(ordered)
      const { events: told, ...after } = yield* resultOf(mixed)
      deepStrictEqual(after, before)
      deepStrictEqual(
        wanted.filter((slot) => !told.includes(slot)),
        []
      )
      for (const slot of told.filter((one) => !wanted.includes(one))) {
        assertTrue(
          periodWords.some((word) => slot.startsWith(`subscription.${word}:`)),
          slot
        )
      }
      strictEqual(new Set(told).size, told.length)
    })
  )

  it.effect("keep one row for any number of looks that say the same", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { apply } = yield* Purchases
      const appId = yield* makeApp
      const [facts = []] = FastCheck.sample(
        histories(1, 1).filter(([fact]) => fact?.store === "store_a"),
        { numRuns: 1, seed: 1 }
      )
      const [bought] = facts
      if (bought === undefined) return strictEqual(facts.length, 1)
      yield* apply(appId, bought)
      const before = yield* sql`SELECT state, updated_at FROM subscriptions WHERE app_id = ${appId}`
      for (const look of looks(bought, 20)) yield* apply(appId, look)
      deepStrictEqual(yield* sql`SELECT state, updated_at FROM subscriptions WHERE app_id = ${appId}`, before)
      const kept = yield* sql<{ factId: string }>`
        SELECT fact_id FROM store_facts JOIN subscriptions ON id = subscription_id WHERE app_id = ${appId}
        ORDER BY store_facts.signed_at`
      deepStrictEqual(
        kept.map(({ factId }) => factId),
        [bought.factId, "look-20"]
      )
    })
  )
})
