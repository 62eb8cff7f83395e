import { layer } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { SqlClient } from "@effect/sql"
import { DateTime, Effect, FastCheck, Layer, TestClock } from "effect"
import { Stats } from "../../src/subscription/Stats.ts"
import { questioned } from "../support/RandomLedger.ts"
import { referenceStats } from "../support/StatsReference.ts"
import { makeApp, store } from "../support/StoredLedger.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

const isRate = (rate: number | null, { part, whole }: { readonly part: number; readonly whole: number }) =>
  whole === 0 ? rate === null : rate !== null && Math.abs(rate - (100 * part) / whole) <= 0.00501

/** What was summed up before: nothing, the ledger as it is, or as it was before all of its purchases moved. */
const pasts = FastCheck.constantFrom("never summed up", "summed up", "summed up, then changed")

const past = Effect.fn(function* (was: string, appId: string) {
  const sql = yield* SqlClient.SqlClient
  const { settle } = yield* Stats
  const settled = Effect.repeat(settle, { while: (count) => count > 0 })
  const moveCustomers = (by: string) => sql`
    UPDATE customers SET first_seen = first_seen + ${by}::interval WHERE app_id = ${appId}`
  const movePurchases = (by: string) => sql`
    UPDATE transactions SET purchase_date = purchase_date + ${by}::interval, price_micros = price_micros + 1,
      covered_until = covered_until + ${by}::interval WHERE app_id = ${appId}`
  if (was === "summed up") yield* settled
  if (was === "summed up, then changed") {
    yield* movePurchases("-3 days")
    yield* moveCustomers("-3 days")
    yield* settled
    yield* movePurchases("3 days")
    yield* moveCustomers("3 days")
    yield* sql`UPDATE transactions SET price_micros = price_micros - 2 WHERE app_id = ${appId}`
  }
})

layer(Stats.layer.pipe(Layer.provideMerge(TestDatabase.layer)))("Stats", (it) => {
  it.effect.prop(
    "says of any ledger what the definitions say of it row by row",
    [questioned, pasts],
    ([[rows, asked], was]) =>
      Effect.gen(function* () {
        const stats = yield* Stats
        const appId = yield* makeApp
        yield* store(appId, rows)
        yield* past(was, appId)
        yield* TestClock.setTime(asked.now)
        const range = { from: DateTime.unsafeMake(asked.from), days: asked.days }
        const { churnRate, trialConversionRate, ...said } = yield* stats.read(appId, asked.environment, range)
        const { churn, conversion, ...expected } = referenceStats(rows, asked)
        assertTrue(isRate(churnRate, churn), `churn rate ${churnRate}`)
        assertTrue(isRate(trialConversionRate, conversion), `conversion rate ${trialConversionRate}`)
        deepStrictEqual(said, expected)
      }),
    { fastCheck: { numRuns: 150 }, timeout: 240_000 }
  )

  it.effect("says nothing of an app without customers, and of no other app", () =>
    Effect.gen(function* () {
      const stats = yield* Stats
      const appId = yield* makeApp
      yield* TestClock.setTime(Date.UTC(2026, 5, 1, 12))
      const range = { from: DateTime.unsafeMake("2026-05-31T00:00:00Z"), days: 2 }
      const empty = yield* stats.read(appId, "production", range)
      strictEqual(empty.churnRate, null)
      strictEqual(empty.trialConversionRate, null)
      deepStrictEqual(empty.byProduct, [])
      deepStrictEqual(empty.series, {
        day: ["2026-05-31", "2026-06-01"],
        revenue: [{}, {}],
        activeSubscriptions: [0, 0]
      })
    })
  )
})
