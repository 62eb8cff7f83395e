import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect, Option } from "effect"
import type { AppId } from "../../src/catalog/domain/App.ts"
import { nextId } from "../../src/kit/Id.ts"
import { Customers } from "../../src/subscription/Customers.ts"
import { AppUserId, type CustomerId } from "../../src/subscription/domain/Customer.ts"
import { Identities } from "../../src/subscription/Identities.ts"
import { makeApp, services } from "./Holder.ts"

const ann = AppUserId.make("ann")
const whole = { search: Option.none(), before: Option.none(), limit: 10 }

const buyOnce = Effect.fn(function* (
  appId: AppId,
  customerId: CustomerId,
  productIdentifier: string,
  more: Readonly<Record<string, unknown>> = {}
) {
  const sql = yield* SqlClient.SqlClient
  const id = yield* nextId
  const row = {
    id,
    appId,
    customerId,
    store: "store_a",
    environment: "production",
    storeTransactionId: id,
    originalTransactionId: id,
    productIdentifier,
    periodType: "normal",
    ownershipType: "purchased",
    purchaseDate: new Date("2026-01-02T03:04:05.006Z"),
    priceMicros: 4_990_000,
    currency: "USD",
    createdAt: new Date(),
    ...more
  }
  yield* sql`INSERT INTO transactions ${sql.insert(row)}`
  return id
}, Effect.orDie)

layer(services, { excludeTestServices: true })("customers with one-time purchases", (it) => {
  it.effect("each is shown under its product, unlocks for ever, and no longer once it is refunded", () =>
    Effect.gen(function* () {
      const customers = yield* Customers
      const appId = yield* makeApp
      const { id } = yield* customers.create(appId, ann)
      const coins = yield* buyOnce(appId, id, "coins", { refundedAt: new Date("2026-01-03T00:00:00.000Z") })
      const refunded = yield* customers.subscriber(appId, ann)
      assert.deepInclude(refunded.entitlements["pro"], {
        is_active: false,
        source: "purchase",
        expires_date: "2026-01-03T00:00:00.000Z"
      })
      const lifetime = yield* buyOnce(appId, id, "lifetime")
      const view = yield* customers.subscriber(appId, ann)
      const shared = {
        store: "store_a" as const,
        purchase_date: "2026-01-02T03:04:05.006Z",
        price: 4.99,
        currency: "USD",
        environment: "production" as const
      }
      deepStrictEqual(
        { ...view.non_subscriptions },
        {
          coins: [
            {
              ...shared,
              uuid: coins,
              refunded_at: "2026-01-03T00:00:00.000Z",
              store_transaction_id: coins,
              original_transaction_id: coins
            }
          ],
          lifetime: [
            {
              ...shared,
              uuid: lifetime,
              refunded_at: null,
              store_transaction_id: lifetime,
              original_transaction_id: lifetime
            }
          ]
        }
      )
      deepStrictEqual(view.entitlements["pro"], {
        is_active: true,
        product_identifier: "lifetime",
        store: "store_a",
        purchase_date: "2026-01-02T03:04:05.006Z",
        original_purchase_date: "2026-01-02T03:04:05.006Z",
        expires_date: null,
        grace_period_expires_date: null,
        will_renew: false,
        period_type: "normal",
        source: "purchase",
        environment: "production"
      })
      deepStrictEqual(view.subscriptions, {})
      assert.isNull(view.management_url)
    })
  )

  it.effect("what counts as spent is what was paid for in production and kept", () =>
    Effect.gen(function* () {
      const customers = yield* Customers
      const appId = yield* makeApp
      const { id } = yield* customers.create(appId, ann)
      yield* buyOnce(appId, id, "coins")
      yield* buyOnce(appId, id, "coins", { priceMicros: 10_000 })
      yield* buyOnce(appId, id, "coins", { currency: "JPY", priceMicros: 600_000_000 })
      yield* buyOnce(appId, id, "coins", { refundedMicros: 2_990_000 })
      for (const uncounted of [
        { environment: "sandbox" },
        { ownershipType: "family_shared" },
        { refundedAt: new Date() },
        { currency: null },
        { priceMicros: null }
      ]) {
        yield* buyOnce(appId, id, "coins", uncounted)
      }
      const [listed] = yield* customers.page(appId, whole)
      deepStrictEqual(listed?.totalSpent, { JPY: 600, USD: 7 })
      deepStrictEqual(listed?.activeEntitlements("2026-06-01T00:00:00.000Z"), ["pro"])
    })
  )

  it.effect("a sighting is noted every 15 minutes, under whichever name", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const customers = yield* Customers
      const identities = yield* Identities
      const appId = yield* makeApp
      const stranger = AppUserId.make("$anonymous:1")
      yield* identities.identify(appId, stranger, ann)
      const long = new Date(Date.now() - 16 * 60_000)
      yield* sql`UPDATE customers SET last_seen = ${long}, first_seen = ${long} WHERE app_id = ${appId}`
      const before = yield* customers.seen(appId, stranger)
      assert.strictEqual(before.last_seen, long.toISOString())
      const after = yield* customers.subscriber(appId, ann)
      assert.isAbove(Date.parse(after.last_seen), long.getTime())
      yield* customers.seen(appId, stranger)
      assert.strictEqual((yield* customers.subscriber(appId, ann)).last_seen, after.last_seen)
    })
  )
})
