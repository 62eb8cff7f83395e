import { layer } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Clock, Effect } from "effect"
import { Client } from "pg"
import { call } from "../support/Api.ts"
import { fieldsOf, identifiers, Program, registered, subscription } from "../support/Registered.ts"

const notes = {
  app: { name: "Notes", bundle_id: "com.example.notes", platforms: ["store_a", "store_b"] },
  entitlements: [{ identifier: "pro", name: "Pro", product_identifiers: ["pro.monthly"] }],
  products: [
    subscription("pro.monthly", { price: 9.99, currency: "USD" }),
    subscription("pro.monthly", { store: "store_b" }),
    subscription("pro.yearly", { subscription_period: "P1Y", entitlements: ["pro"] })
  ],
  offerings: [
    {
      identifier: "default",
      is_current: true,
      packages: [
        { identifier: "$m", package_type: "monthly", product_identifier: "pro.monthly" },
        { identifier: "$y", package_type: "annual", product_identifier: "pro.yearly" }
      ]
    }
  ]
}

const many = <A>(count: number, item: (index: number) => A): ReadonlyArray<A> =>
  Array.from({ length: count }, (_, index) => item(index))

const large = {
  app: { name: "Large" },
  entitlements: many(50, (index) => ({
    identifier: `e${index}`,
    name: `Entitlement ${index}`,
    product_identifiers: many(10, (product) => `p${index * 10 + product}`)
  })),
  products: many(500, (index) => subscription(`p${index}`, { price: index + 0.99, currency: "EUR" })),
  offerings: many(50, (index) => ({
    identifier: `o${index}`,
    is_current: index === 7,
    packages: many(20, (position) => ({
      identifier: `k${position}`,
      package_type: "custom",
      product_identifier: `p${(index * 10 + position) % 500}`
    }))
  }))
}

/** Every row of the catalogue as the database has it, `updated_at` included. */
const rows = Effect.gen(function* () {
  const { databaseUrl } = yield* Program
  return yield* Effect.promise(async () => {
    const client = new Client({ connectionString: databaseUrl })
    await client.connect()
    const kinds = ["apps", "products", "entitlements", "entitlement_products", "offerings", "packages"]
    const tables = []
    for (const kind of kinds) tables.push((await client.query(`SELECT * FROM ${kind} ORDER BY 1, 2`)).rows)
    await client.end()
    return tables
  })
})

layer(Program.layer, { excludeTestServices: true })("an app is made in one call", (it) => {
  it.effect("with everything that it sells, and the same call again changes nothing", () =>
    Effect.gen(function* () {
      const { api, tenant } = yield* registered
      const made = yield* api("POST", "/bootstrap", notes)
      strictEqual(made.status, 201)
      const { app, changes, entitlements, offerings, products } = made.body.data
      deepStrictEqual(changes, { created: 8, updated: 0, unchanged: 0 })
      strictEqual(app.tenant_uuid, tenant)
      strictEqual(app.slug, "notes")
      deepStrictEqual(app.platforms, ["store_a", "store_b"])
      deepStrictEqual(entitlements[0].product_identifiers, ["pro.monthly", "pro.yearly"])
      deepStrictEqual(
        products.map(({ price, store }: { price: number | null; store: string }) => [store, price]),
        [
          ["store_a", 9.99],
          ["store_b", null],
          ["store_a", null]
        ]
      )
      deepStrictEqual(
        offerings[0].packages.map(({ identifier }: { identifier: string }) => identifier),
        ["$m", "$y"]
      )
      const before = yield* rows
      const again = yield* api("POST", "/bootstrap", notes)
      strictEqual(again.status, 201)
      deepStrictEqual(again.body.data, { ...made.body.data, changes: { created: 0, updated: 0, unchanged: 8 } })
      deepStrictEqual(yield* rows, before)
      deepStrictEqual((yield* api("GET", `/apps/${app.uuid}`)).body.data, app)
      deepStrictEqual((yield* api("GET", `/apps/${app.uuid}/offerings`)).body.data, offerings)
    })
  )

  it.effect("adds and changes what is named, keeps what is not, deletes nothing", () =>
    Effect.gen(function* () {
      const { api } = yield* registered
      const { app } = (yield* api("POST", "/bootstrap", notes)).body.data
      const changed = yield* api("POST", "/bootstrap", {
        app: { name: "Notes 2", slug: "notes" },
        entitlements: [{ identifier: "gold", name: "Gold" }],
        products: [
          { ...subscription("pro.monthly"), name: "Monthly", entitlements: ["gold"] },
          subscription("pro.weekly", { subscription_period: "P1W", entitlements: ["pro"] })
        ],
        offerings: [
          {
            identifier: "sale",
            is_current: true,
            packages: [{ identifier: "$w", package_type: "weekly", product_identifier: "pro.weekly" }]
          }
        ]
      })
      strictEqual(changed.status, 201)
      deepStrictEqual(changed.body.data.changes, { created: 4, updated: 4, unchanged: 0 })
      strictEqual(changed.body.data.app.uuid, app.uuid)
      strictEqual(changed.body.data.app.slug, "notes")
      strictEqual(changed.body.data.app.bundle_id, "com.example.notes")
      strictEqual(changed.body.data.products[0].price, 9.99)
      const inApp = (kind: string) => api("GET", `/apps/${app.uuid}/${kind}`)
      const entitlements = (yield* inApp("entitlements")).body.data
      deepStrictEqual(
        entitlements.map((one: { identifier: string; product_identifiers: Array<string> }) => [
          one.identifier,
          one.product_identifiers
        ]),
        [
          ["gold", ["pro.monthly"]],
          ["pro", ["pro.monthly", "pro.weekly", "pro.yearly"]]
        ]
      )
      strictEqual((yield* inApp("products")).body.data.length, 4)
      const client = yield* api("GET", "/client/offerings", undefined, app.public_api_key)
      strictEqual(client.body.data.current_offering_id, "sale")
      deepStrictEqual(identifiers({ body: { data: client.body.data.offerings } }), ["sale", "default"])
      const cleared = yield* api("POST", "/bootstrap", {
        app: { name: "Notes 2", uuid: app.uuid, bundle_id: null },
        products: [subscription("pro.monthly", { name: "Monthly", price: null })],
        offerings: [{ identifier: "sale", is_current: false }]
      })
      deepStrictEqual(cleared.body.data.changes, { created: 0, updated: 3, unchanged: 0 })
      strictEqual(cleared.body.data.app.bundle_id, null)
      strictEqual(cleared.body.data.products[0].price, null)
      deepStrictEqual(identifiers({ body: { data: cleared.body.data.offerings[0].packages } }), ["$w"])
    })
  )

  it.effect(
    "the app is found by uuid or slug, else bundle id, package name or slug of the name, in the workspace",
    () =>
      Effect.gen(function* () {
        const { url } = yield* Program
        const ann = yield* registered
        const boot = (app: object) => ann.api("POST", "/bootstrap", { app })
        const one = (yield* boot({ name: "One", bundle_id: "b.one", package_name: "p.one" })).body.data.app
        const two = (yield* boot({ name: "Two", package_name: "p.two" })).body.data.app
        const found = (app: object) => Effect.map(boot(app), ({ body }): string => body.data.app.uuid)
        strictEqual(yield* found({ name: "x", uuid: one.uuid }), one.uuid)
        strictEqual(yield* found({ name: "x", slug: "one" }), one.uuid)
        strictEqual(yield* found({ name: "two", bundle_id: "b.one", package_name: "p.two" }), one.uuid)
        strictEqual(yield* found({ name: "one", package_name: "p.one" }), one.uuid)
        strictEqual(yield* found({ name: "TWO!" }), two.uuid)
        assertTrue(![one.uuid, two.uuid].includes(yield* found({ name: "Three", bundle_id: "b.three" })))
        const elsewhere = (yield* registered).api
        const foreign = yield* elsewhere("POST", "/bootstrap", { app: { name: "One", bundle_id: "b.one" } })
        strictEqual(foreign.body.data.changes.created, 1)
        const before = yield* rows
        strictEqual((yield* elsewhere("POST", "/bootstrap", { app: { name: "x", uuid: one.uuid } })).status, 404)
        strictEqual((yield* elsewhere("POST", "/bootstrap", { app: { name: "x", slug: "two" } })).status, 404)
        strictEqual(
          (yield* elsewhere("POST", "/bootstrap", { app: { name: "x", slug: "two" }, products: [{}] })).status,
          404
        )
        deepStrictEqual(yield* rows, before)
        deepStrictEqual(fieldsOf(yield* boot({ name: "x", uuid: "7" })), ["app.uuid"])
        const other = yield* call("POST", `${url}/api/v1/bootstrap`, {
          token: ann.token,
          body: { app: { name: "One" } },
          headers: { "x-tenant": foreign.body.data.app.tenant_uuid }
        })
        strictEqual(other.status, 404)
        const reader = yield* ann.api("POST", "/auth/tokens", { name: "r", abilities: ["catalog:read", "apps:write"] })
        strictEqual((yield* ann.api("POST", "/bootstrap", notes, reader.body.data.token)).status, 403)
      })
  )

  it.effect("or not at all: every failing field is told at once, whether its form or its meaning is wrong", () =>
    Effect.gen(function* () {
      const { api } = yield* registered
      yield* api("POST", "/bootstrap", notes)
      const before = yield* rows
      const refused = yield* api("POST", "/bootstrap", {
        app: { name: "Notes" },
        entitlements: [
          { identifier: "new", name: "New", product_identifiers: ["pro.yearly", "nothing"] },
          { identifier: "new", name: "Again" }
        ],
        products: [
          subscription("ok", { entitlements: ["pro", "new", "nobody"] }),
          subscription("ok"),
          subscription("bad", { store: "nowhere", price: 0.1 + 0.2 }),
          { store: "store_b", identifier: "a:b:c", name: "x", type: "subscription" }
        ],
        offerings: [
          {
            identifier: "o",
            is_current: true,
            packages: [
              { identifier: "a", package_type: "monthly", product_identifier: "ok" },
              { identifier: "a", package_type: "daily", product_identifier: "pro.monthly" },
              {},
              { identifier: "b", package_type: "monthly", product_identifier: "gone" }
            ]
          },
          { identifier: "o2", is_current: true }
        ]
      })
      strictEqual(refused.status, 422)
      deepStrictEqual(fieldsOf(refused), [
        "entitlements.0.product_identifiers.1",
        "entitlements.1.identifier",
        "offerings.0.packages.1.identifier",
        "offerings.0.packages.1.package_type",
        "offerings.0.packages.2.identifier",
        "offerings.0.packages.2.package_type",
        "offerings.0.packages.2.product_identifier",
        "offerings.0.packages.3.product_identifier",
        "offerings.1.is_current",
        "products.0.entitlements.2",
        "products.1.identifier",
        "products.2.price",
        "products.2.store",
        "products.3.identifier",
        "products.3.subscription_period"
      ])
      const meaning = yield* api("POST", "/bootstrap", {
        app: { name: "Fresh" },
        offerings: [{ identifier: "o", packages: [{ ...notes.offerings[0]?.packages[0] }] }]
      })
      deepStrictEqual(fieldsOf(meaning), ["offerings.0.packages.0.product_identifier"])
      for (const body of [
        {},
        [],
        { app: {} },
        { app: { name: "x" }, products: {} },
        { app: { name: "x" }, products: [7] }
      ]) {
        strictEqual((yield* api("POST", "/bootstrap", body)).status, 422)
      }
      const shapeless = yield* api("POST", "/bootstrap", { app: { name: "x" }, products: [7], offerings: {} })
      deepStrictEqual(shapeless.body.errors, { "products.0": ["must be an object"], offerings: ["must be a list"] })
      deepStrictEqual(yield* rows, before)
    })
  )

  it.effect("two at once end as one app, beside other writers of its catalogue", () =>
    Effect.gen(function* () {
      const { api } = yield* registered
      const answers = yield* Effect.forEach(
        many(6, (index) => index),
        () => api("POST", "/bootstrap", notes),
        { concurrency: 6 }
      )
      assertTrue(answers.every(({ status }) => status === 201))
      const changes = answers.map(({ body }) => body.data.changes.created as number).toSorted()
      deepStrictEqual(changes, [0, 0, 0, 0, 0, 8])
      const app: string = answers[0]?.body.data.app.uuid
      strictEqual((yield* api("GET", "/apps")).body.data.length, 1)
      const mixed = yield* Effect.forEach(
        many(12, (index) => index),
        (index) =>
          index % 3 === 0
            ? api("POST", "/bootstrap", { ...notes, products: [...notes.products, subscription(`n${index}`)] })
            : index % 3 === 1
              ? api("POST", `/apps/${app}/products`, subscription(`m${index}`, { entitlements: ["pro"] }))
              : api("POST", `/apps/${app}/offerings`, { identifier: `o${index}`, is_current: true }),
        { concurrency: 12 }
      )
      deepStrictEqual(
        mixed.map(({ status }) => status),
        mixed.map(() => 201)
      )
      strictEqual((yield* api("GET", `/apps/${app}/products`)).body.data.length, 11)
    })
  )

  it.effect("however large", () =>
    Effect.gen(function* () {
      const { api } = yield* registered
      const timed = (body: object) =>
        Effect.gen(function* () {
          const start = yield* Clock.currentTimeMillis
          const answer = yield* api("POST", "/bootstrap", body)
          return { changes: answer.body.data.changes, millis: (yield* Clock.currentTimeMillis) - start }
        })
      const first = yield* timed(large)
      const again = yield* timed(large)
      const renamed = { ...large, products: large.products.map((product) => ({ ...product, name: "Renamed" })) }
      const changed = yield* timed(renamed)
      deepStrictEqual(first.changes, { created: 1601, updated: 0, unchanged: 0 })
      deepStrictEqual(again.changes, { created: 0, updated: 0, unchanged: 1601 })
      deepStrictEqual(changed.changes, { created: 0, updated: 500, unchanged: 1101 })
      yield* Effect.logInfo("a bootstrap of 1,601 records").pipe(
        Effect.annotateLogs({ created: first.millis, unchanged: again.millis, updated: changed.millis })
      )
    })
  )
})
