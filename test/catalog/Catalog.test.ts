import { SqlClient } from "@effect/sql"
import { layer } from "@effect/vitest"
import { assertInstanceOf, assertSome, assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Array, Context, Effect, Either, Layer, Option, Ref } from "effect"
import { AppHistory } from "../../src/catalog/AppHistory.ts"
import { Apps } from "../../src/catalog/Apps.ts"
import { Bootstrap } from "../../src/catalog/Bootstrap.ts"
import * as CatalogContext from "../../src/catalog/CatalogContext.ts"
import { IdentifierBought, RecordGone } from "../../src/catalog/CatalogErrors.ts"
import type { WantedCatalog } from "../../src/catalog/domain/CatalogPlan.ts"
import { Entitlements } from "../../src/catalog/Entitlements.ts"
import { Offerings } from "../../src/catalog/Offerings.ts"
import { Packages } from "../../src/catalog/Packages.ts"
import { Products } from "../../src/catalog/Products.ts"
import { TenantId } from "../../src/identity/domain/User.ts"
import { Tenants } from "../../src/identity/Tenants.ts"
import { nextId } from "../../src/kit/Id.ts"
import { database, Mortal } from "../channel/Mortal.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

/** What was bought, as the test says. */
class Bought extends Context.Tag("test/Bought")<Bought, Ref.Ref<ReadonlyArray<string>>>() {}

const history = Layer.effect(
  AppHistory,
  Effect.map(Effect.all([Bought, SqlClient.SqlClient]), ([bought, sql]) =>
    AppHistory.of({
      hasCustomers: () => Effect.succeed(false),
      isBought: (_, products) =>
        Effect.map(Ref.get(bought), (names) => products.some(({ identifier }) => names.includes(identifier))),
      keyRotated: (change) => sql.withTransaction(change),
      forgotten: (_, deletion) => sql.withTransaction(deletion)
    })
  )
)

const catalog = CatalogContext.layer.pipe(
  Layer.provide(Layer.merge(history, Tenants.layer)),
  Layer.provideMerge(Layer.effect(Bought, Ref.make<ReadonlyArray<string>>([])))
)

const services = Layer.provideMerge(catalog, TestDatabase.layer)

const tenant = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const id = TenantId.make(yield* nextId)
  yield* sql`
    INSERT INTO tenants (id, name, slug, created_at, updated_at) VALUES (${id}, 'Team', ${`team-${id}`}, now(), now())`
  return id
})

const newApp = Effect.gen(function* () {
  const apps = yield* Apps
  const fields = {
    name: "Notes",
    bundleId: Option.none(),
    packageName: Option.none(),
    platforms: [],
    transferBehavior: "transfer" as const
  }
  return yield* apps.create(yield* tenant, fields)
})

const product = (identifier: string, store: "store_a" | "store_b" = "store_a") => ({
  store,
  identifier,
  name: identifier,
  type: "consumable" as const,
  subscriptionPeriod: null,
  priceMicros: 990_000,
  currency: "USD"
})

const wantedOf = (count: number, name: string): WantedCatalog => ({
  products: Array.makeBy(count, (nth) => ({ ...product(`p${nth}`), name, entitlements: [] })),
  entitlements: Array.makeBy(count, (nth) => ({ identifier: `e${nth}`, name, productIdentifiers: [`p${nth}`] })),
  offerings: Array.makeBy(count, (nth) => ({
    identifier: `o${nth}`,
    isCurrent: nth === 0,
    packages: [{ identifier: "k", packageType: "custom" as const, productIdentifier: `p${nth}` }]
  }))
})

const newest = { before: Option.none(), limit: 100 }

layer(services, { excludeTestServices: true })("the catalogue on PostgreSQL", (it) => {
  it.effect("a renamed product joins what names its new identifier, and takes along what named its old one", () =>
    Effect.gen(function* () {
      const { id } = yield* newApp
      const [products, entitlements] = yield* Effect.all([Products, Entitlements])
      yield* products.create(id, product("x"), [])
      const other = yield* products.create(id, product("y", "store_b"), [])
      yield* entitlements.create(id, { identifier: "by-x", name: "X", productIdentifiers: ["x"] })
      yield* entitlements.create(id, { identifier: "by-y", name: "Y", productIdentifiers: ["y"] })
      yield* products.update({ ...other, appId: id }, { identifier: "x" })
      const sql = yield* SqlClient.SqlClient
      const links = yield* sql`
        SELECT entitlements.identifier, count(*) AS products FROM entitlement_products
        JOIN entitlements ON entitlements.id = entitlement_id WHERE app_id = ${id} GROUP BY 1 ORDER BY 1`
      deepStrictEqual(links, [
        { identifier: "by-x", products: 2 },
        { identifier: "by-y", products: 2 }
      ])
    })
  )

  it.effect("an entitlement keeps its identifier once one of its products was bought", () =>
    Effect.gen(function* () {
      const { id } = yield* newApp
      const [products, entitlements, bought] = yield* Effect.all([Products, Entitlements, Bought])
      yield* products.create(id, product("coins"), [])
      const made = yield* entitlements.create(id, { identifier: "e", name: "E", productIdentifiers: ["coins"] })
      const row = { ...made, appId: id }
      yield* entitlements.update(row, { identifier: "e2" })
      yield* Ref.set(bought, ["coins"])
      assertInstanceOf(yield* Effect.flip(entitlements.update(row, { identifier: "e3" })), IdentifierBought)
      const [coins] = yield* products.page(id, newest)
      assertTrue(coins !== undefined)
      const refused = yield* Effect.flip(products.update({ ...coins, appId: id }, { identifier: "gold", name: "Gold" }))
      assertInstanceOf(refused, IdentifierBought)
      deepStrictEqual(yield* products.page(id, newest), [coins])
      yield* Ref.set(bought, [])
    })
  )

  it.effect("packages never name a product that is gone, whoever is first", () =>
    Effect.gen(function* () {
      const { id } = yield* newApp
      const [products, offerings, packages] = yield* Effect.all([Products, Offerings, Packages])
      const made = yield* offerings.create(id, { identifier: "o", isCurrent: false })
      for (const round of [1, 2, 3, 4, 5, 6]) {
        const name = `p${round}`
        const sold = yield* products.create(id, product(name), [])
        const fields = { identifier: name, packageType: "custom" as const, productIdentifier: name }
        yield* Effect.all(
          [
            Effect.either(packages.create({ ...made, appId: id }, fields)),
            Effect.either(products.remove({ ...sold, appId: id }))
          ],
          { concurrency: 2 }
        )
      }
      deepStrictEqual(yield* packages.page(made.id, newest), [])
    })
  )

  it.effect("many moves of the flag at once leave one current offering", () =>
    Effect.gen(function* () {
      const { id } = yield* newApp
      const offerings = yield* Offerings
      const made = yield* Effect.forEach(["a", "b", "c", "d"], (identifier) =>
        offerings.create(id, { identifier, isCurrent: true })
      )
      const moves = yield* Effect.forEach(
        [...made, ...made, ...made],
        (offering) => Effect.either(offerings.update({ ...offering, appId: id }, { isCurrent: true })),
        { concurrency: 8 }
      )
      assertTrue(moves.every(Either.isRight))
      strictEqual((yield* offerings.page(id, newest)).filter(({ isCurrent }) => isCurrent).length, 1)
    })
  )

  it.effect("who changes what another has just deleted is told so", () =>
    Effect.gen(function* () {
      const { id } = yield* newApp
      const [offerings, packages, products] = yield* Effect.all([Offerings, Packages, Products])
      const offering = { ...(yield* offerings.create(id, { identifier: "o", isCurrent: false })), appId: id }
      const sold = { ...(yield* products.create(id, product("p"), [])), appId: id }
      yield* offerings.remove(offering)
      yield* products.remove(sold)
      const fields = { identifier: "k", packageType: "custom" as const, productIdentifier: "p" }
      assertInstanceOf(yield* Effect.flip(offerings.update(offering, {})), RecordGone)
      assertInstanceOf(yield* Effect.flip(packages.create(offering, fields)), RecordGone)
      assertInstanceOf(yield* Effect.flip(products.update(sold, {})), RecordGone)
      assertInstanceOf(yield* Effect.flip(products.remove(sold)), RecordGone)
    })
  )

  it.effect("a workspace that went meanwhile takes no app", () =>
    Effect.gen(function* () {
      const apps = yield* Apps
      const bootstrap = yield* Bootstrap
      const gone = TenantId.make(yield* nextId)
      const fields = {
        name: "Notes",
        bundleId: Option.none(),
        packageName: Option.none(),
        platforms: [],
        transferBehavior: "transfer" as const
      }
      strictEqual((yield* Effect.flip(apps.create(gone, fields)))._tag, "TenantNotFound")
      const nothing = { products: [], entitlements: [], offerings: [] }
      strictEqual((yield* Effect.flip(bootstrap.apply(gone, { name: "Notes" }, nothing)))._tag, "TenantNotFound")
    })
  )

  it.effect("a bootstrap takes as many statements for many records as for few", () => {
    const counted = new Mortal(Infinity)
    return Effect.gen(function* () {
      const bootstrap = yield* Bootstrap
      const tenantId = yield* tenant
      counted.isBorn = true
      const statements = (count: number, name: string) =>
        Effect.gen(function* () {
          const before = counted.steps
          const { changes } = yield* bootstrap.apply(tenantId, { name: `App of ${count}` }, wantedOf(count, name))
          return [changes.created > 0, changes.updated > 0, counted.steps - before]
        })
      const all = (count: number) =>
        Effect.forEach(["made", "made", "renamed"], (name) => statements(count, name), { concurrency: 1 })
      const [few, many] = [yield* all(2), yield* all(400)]
      deepStrictEqual(many, few)
      deepStrictEqual(
        few.map(([isCreated, isUpdated]) => [isCreated, isUpdated]),
        [
          [true, false],
          [false, false],
          [false, true]
        ]
      )
    }).pipe(Effect.provide(Layer.fresh(Layer.provide(catalog, database(counted)))))
  })

  it.effect("a bootstrap that fails in the end leaves no app behind", () =>
    Effect.gen(function* () {
      const [apps, bootstrap] = yield* Effect.all([Apps, Bootstrap])
      const tenantId = yield* tenant
      const wanted: WantedCatalog = {
        products: [{ ...product("p"), entitlements: ["nobody"] }],
        entitlements: [],
        offerings: []
      }
      const refused = yield* Effect.flip(bootstrap.apply(tenantId, { name: "New" }, wanted))
      assertTrue(refused._tag === "BootstrapRefused")
      deepStrictEqual(
        refused.faults.map(({ path }) => path),
        ["products.0.entitlements.0"]
      )
      deepStrictEqual(yield* apps.page(tenantId, { ...newest, status: Option.none() }), [])
      const made = yield* bootstrap.apply(tenantId, { name: "New" }, { ...wanted, products: [] })
      assertSome(yield* apps.byId(made.app.id), made.app)
    })
  )
})
