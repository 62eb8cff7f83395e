import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { AppId } from "../../src/catalog/domain/App.ts"
import { nextId } from "../../src/kit/Id.ts"
import { type Chain, epoch, type Ledger, products } from "./RandomLedger.ts"

const at = new Date(epoch)
const date = (moment: number | null) => (moment === null ? null : new Date(moment))

/** An app of its own with the catalogue of the random ledgers. */
export const makeApp = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [tenantId, id] = [yield* nextId, AppId.make(yield* nextId)]
  const times = { createdAt: at, updatedAt: at }
  yield* sql`INSERT INTO tenants ${sql.insert({ id: tenantId, name: "T", slug: tenantId, ...times })}`
  yield* sql`INSERT INTO apps ${sql.insert({ id, tenantId, name: "A", slug: "a", publicApiKey: id, ...times })}`
  const rows = yield* Effect.forEach(Object.entries(products), ([identifier, subscriptionPeriod]) =>
    Effect.map(nextId, (product) => ({
      ...{ id: product, appId: id, store: "store_a", identifier, name: identifier, type: "subscription" },
      ...{ subscriptionPeriod, ...times }
    }))
  )
  yield* sql`INSERT INTO products ${sql.insert(rows)}`
  return id
})

const stateOf = ({ graceUntil, isFamilyShared }: Chain) =>
  JSON.stringify({
    ownershipType: isFamilyShared ? "family_shared" : "purchased",
    gracePeriodExpiresDate: date(graceUntil)?.toISOString() ?? null
  })

/** Writes a ledger as the program would have, in few statements. */
export const store = Effect.fn(function* (appId: AppId, { chains, customers, oneTime }: Ledger) {
  const sql = yield* SqlClient.SqlClient
  const people = yield* Effect.forEach(customers, (firstSeen) =>
    Effect.map(nextId, (id) => ({
      ...{ id, appId, appUserId: id, isAnonymous: false, firstSeen: date(firstSeen), lastSeen: date(firstSeen) }
    }))
  )
  yield* sql`INSERT INTO customers ${sql.insert(people)}`
  const customerId = people[0]?.id
  const common = { appId, customerId, store: "store_a", createdAt: at }
  for (const chain of chains) {
    const id = yield* nextId
    const { environment, periods } = chain
    const last = periods.at(-1)
    yield* sql`INSERT INTO subscriptions ${sql.insert({
      ...{ ...common, id, environment, originalTransactionId: id, productIdentifier: last?.product ?? "" },
      ...{ status: chain.status, expiresDate: date(last?.expires ?? null), state: stateOf(chain), updatedAt: at }
    })}`
    const rows = yield* Effect.forEach(periods, (period) =>
      Effect.map(nextId, (transaction) => ({
        ...{ ...common, id: transaction, subscriptionId: id, environment, originalTransactionId: id },
        ...{ storeTransactionId: `${id}/${period.id}`, productIdentifier: period.product, periodType: period.type },
        ownershipType: chain.isFamilyShared ? "family_shared" : "purchased",
        ...{ purchaseDate: date(period.start), expiresDate: date(period.expires), coveredUntil: date(period.until) },
        ...{ refundedAt: period.isRefunded ? date(period.until) : null, refundedMicros: period.back },
        priceMicros: period.price,
        currency: period.currency
      }))
    )
    yield* sql`INSERT INTO transactions ${sql.insert(rows)}`
  }
  for (const item of oneTime) {
    const id = yield* nextId
    yield* sql`INSERT INTO transactions ${sql.insert({
      ...{ ...common, id, subscriptionId: null, environment: item.environment, originalTransactionId: id },
      ...{ storeTransactionId: id, productIdentifier: item.product, periodType: "normal", ownershipType: "purchased" },
      ...{ purchaseDate: date(item.at), expiresDate: null, coveredUntil: null },
      ...{
        refundedAt: item.isRefunded ? date(item.at) : null,
        refundedMicros: item.back,
        priceMicros: item.price,
        currency: item.currency
      }
    })}`
  }
})
