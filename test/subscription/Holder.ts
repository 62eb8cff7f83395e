import { SqlClient } from "@effect/sql"
import { Effect, Layer } from "effect"
import { AppId } from "../../src/catalog/domain/App.ts"
import { nextId } from "../../src/kit/Id.ts"
import { Customers } from "../../src/subscription/Customers.ts"
import { Erasure } from "../../src/subscription/Erasure.ts"
import { Events } from "../../src/subscription/Events.ts"
import { Grants } from "../../src/subscription/Grants.ts"
import { Identities } from "../../src/subscription/Identities.ts"
import { Purchases } from "../../src/subscription/Purchases.ts"
import { SubscriberReader } from "../../src/subscription/SubscriberReader.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import { engine } from "../webhook/Engine.ts"

/** The customers' services on a database of their own. */
export const services = Layer.mergeAll(Identities.layer, Erasure.layer, Grants.layer, Purchases.layer).pipe(
  Layer.provideMerge(Customers.layer),
  Layer.provideMerge(Layer.mergeAll(Events.layer, SubscriberReader.layer)),
  Layer.provideMerge(engine()),
  Layer.provideMerge(TestDatabase.layer)
)

/** An app of its own whose entitlement `pro` is unlocked by `pro.monthly`, `lifetime` and `coins`. */
export const makeApp = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const ids = yield* Effect.all(Array.from({ length: 6 }, () => nextId))
  const [tenant, app, entitlement, ...products] = ids
  const appId = AppId.make(String(app))
  const now = new Date()
  const stamps = { createdAt: now, updatedAt: now }
  yield* sql`INSERT INTO tenants ${sql.insert({ id: tenant, name: "t", slug: `t-${tenant}`, plan: "free", ...stamps })}`
  yield* sql`INSERT INTO apps ${sql.insert({ id: appId, tenantId: tenant, name: "a", slug: "a", publicApiKey: `app_pk_${app}`, ...stamps })}`
  yield* sql`INSERT INTO entitlements ${sql.insert({ id: entitlement, appId, identifier: "pro", name: "Pro", ...stamps })}`
  const named = ["pro.monthly", "lifetime", "coins"].map((identifier, index) => ({ id: products[index], identifier }))
  for (const { id, identifier } of named) {
    const type = identifier === "pro.monthly" ? "subscription" : "non_consumable"
    yield* sql`INSERT INTO products ${sql.insert({ id, appId, store: "store_a", identifier, name: identifier, type, ...stamps })}`
    yield* sql`INSERT INTO entitlement_products ${sql.insert({ entitlementId: entitlement, productId: id })}`
  }
  return appId
}).pipe(Effect.orDie)
