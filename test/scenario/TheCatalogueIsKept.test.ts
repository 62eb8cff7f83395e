import { layer } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { fieldsOf, identifiers, Program, registered, subscription, teamWithApp } from "../support/Registered.ts"

layer(Program.layer, { excludeTestServices: true })("the catalogue is kept", (it) => {
  it.effect("a product keeps its price to the last digit, and refuses what it could not keep", () =>
    Effect.gen(function* () {
      const { api, inApp } = yield* teamWithApp
      const prices = [0, 9.99, 0.1, 0.000001, 999_999_999.999999, 123_456_789.01]
      for (const [index, price] of prices.entries()) {
        const made = yield* inApp("POST", "/products", subscription(`p${index}`, { price, currency: "EUR" }))
        strictEqual(made.status, 201)
        strictEqual(made.body.data.price, price)
        strictEqual((yield* api("GET", `/products/${made.body.data.uuid}`)).body.data.price, price)
      }
      for (const price of [0.1 + 0.2, 12_345_678_901.99, -1, 1e-7, "9.99"]) {
        const refused = yield* inApp("POST", "/products", subscription("dear", { price }))
        strictEqual(refused.status, 422, String(price))
        deepStrictEqual(fieldsOf(refused), ["price"])
      }
    })
  )

  it.effect("every failing field of a product is told at once, those that only fail together too", () =>
    Effect.gen(function* () {
      const { inApp } = yield* teamWithApp
      const refused = yield* inApp("POST", "/products", {
        store: "store_b",
        identifier: "a:b:c",
        name: "",
        type: "subscription",
        currency: "XXQ",
        entitlements: ["ok", 7]
      })
      strictEqual(refused.status, 422)
      deepStrictEqual(fieldsOf(refused), ["currency", "entitlements.1", "identifier", "name", "subscription_period"])
      const periods = ["P1", "1M", "PT1H", "P0M", "P1M1D", "p1m", ""]
      for (const subscription_period of periods) {
        const wrong = yield* inApp("POST", "/products", subscription("x", { subscription_period }))
        deepStrictEqual(fieldsOf(wrong), ["subscription_period"], subscription_period)
      }
      const unknown = yield* inApp("POST", "/products", subscription("x", { entitlements: ["nobody"] }))
      deepStrictEqual(fieldsOf(unknown), ["entitlements.0"])
      const missing = yield* inApp("POST", "/products", {})
      deepStrictEqual(fieldsOf(missing), ["identifier", "name", "store", "type"])
      strictEqual((yield* inApp("GET", "/products")).body.data.length, 0)
      const plan = yield* inApp("POST", "/products", subscription("sub:plan-1", { store: "store_b" }))
      strictEqual(plan.status, 201)
      const consumable = { store: "custom", identifier: "coins", name: "Coins", type: "consumable" }
      const coins = yield* inApp("POST", "/products", consumable)
      deepStrictEqual(coins.body.data, {
        ...consumable,
        uuid: coins.body.data.uuid,
        subscription_period: null,
        price: null,
        currency: null
      })
    })
  )

  it.effect("an identifier is unique within app and store, and stands for the products of all stores", () =>
    Effect.gen(function* () {
      const { api, app, inApp } = yield* teamWithApp
      yield* inApp("POST", "/entitlements", { identifier: "pro", name: "Pro" })
      yield* inApp("POST", "/products", subscription("pro.monthly", { entitlements: ["pro"] }))
      const again = yield* inApp("POST", "/products", subscription("pro.monthly"))
      strictEqual(again.status, 409)
      deepStrictEqual(fieldsOf(again), ["identifier"])
      const other = yield* inApp("POST", "/products", subscription("pro.monthly", { store: "store_b" }))
      strictEqual(other.status, 201)
      const offering = yield* inApp("POST", "/offerings", { identifier: "default", is_current: true })
      const packages = `/offerings/${offering.body.data.uuid}/packages`
      yield* api("POST", packages, {
        identifier: "$monthly",
        package_type: "monthly",
        product_identifier: "pro.monthly"
      })
      const shown = yield* api("GET", "/client/offerings", undefined, app.public_api_key)
      deepStrictEqual(
        shown.body.data.offerings[0].packages[0].products.map(({ store }: { store: string }) => store),
        ["store_a", "store_b"]
      )
      const elsewhere = (yield* registered).api
      const foreign = (yield* elsewhere("POST", "/apps", { name: "Other" })).body.data.uuid
      strictEqual((yield* elsewhere("POST", `/apps/${foreign}/products`, subscription("pro.monthly"))).status, 201)

      const entitlement = (yield* inApp("GET", "/entitlements")).body.data[0]
      deepStrictEqual(entitlement.product_identifiers, ["pro.monthly"])
      const first = (yield* inApp("GET", "/products")).body.data[1]
      strictEqual((yield* api("DELETE", `/products/${first.uuid}`)).status, 200)
      deepStrictEqual((yield* inApp("GET", "/entitlements")).body.data[0].product_identifiers, ["pro.monthly"])
      strictEqual((yield* api("GET", packages)).body.data.length, 1)
      const deleted = yield* api("DELETE", `/products/${other.body.data.uuid}`)
      deepStrictEqual(deleted.body, { data: { uuid: other.body.data.uuid, deleted: true } })
      deepStrictEqual((yield* inApp("GET", "/entitlements")).body.data[0].product_identifiers, [])
      strictEqual((yield* api("GET", packages)).body.data.length, 0)
      strictEqual((yield* api("GET", `/products/${other.body.data.uuid}`)).status, 404)
      strictEqual((yield* api("DELETE", `/products/${other.body.data.uuid}`)).status, 404)
    })
  )

  it.effect("a changed product keeps what was not sent, clears what was null, and stays whole", () =>
    Effect.gen(function* () {
      const { api, inApp } = yield* teamWithApp
      const made = yield* inApp("POST", "/products", subscription("a", { price: 9.99, currency: "USD" }))
      const path = `/products/${made.body.data.uuid}`
      yield* inApp("POST", "/products", subscription("b"))
      const offering = (yield* inApp("POST", "/offerings", { identifier: "default" })).body.data.uuid
      yield* api("POST", `/offerings/${offering}/packages`, {
        identifier: "m",
        package_type: "monthly",
        product_identifier: "a"
      })
      const renamed = yield* api("PATCH", path, { identifier: "a2", price: null, store: "store_b", unknown: 1 })
      deepStrictEqual(renamed.body.data, { ...made.body.data, identifier: "a2", price: null })
      deepStrictEqual((yield* api("GET", path)).body, renamed.body)
      strictEqual((yield* inApp("GET", "/offerings")).body.data[0].packages[0].product_identifier, "a2")
      deepStrictEqual((yield* api("PATCH", path, {})).body, renamed.body)
      strictEqual((yield* api("PATCH", path, { identifier: "b" })).status, 409)
      deepStrictEqual(fieldsOf(yield* api("PATCH", path, { subscription_period: null })), ["subscription_period"])
      deepStrictEqual(fieldsOf(yield* api("PATCH", path, { type: "toy", price: -1, currency: "US" })), [
        "currency",
        "price",
        "type"
      ])
      const lifetime = yield* api("PATCH", path, { type: "non_consumable", subscription_period: null, price: 0.3 })
      strictEqual(lifetime.body.data.subscription_period, null)
      strictEqual(lifetime.body.data.price, 0.3)
    })
  )

  it.effect("entitlements name their products, each known, and the products are replaced as a whole", () =>
    Effect.gen(function* () {
      const { api, inApp } = yield* teamWithApp
      yield* inApp("POST", "/products", subscription("a"))
      yield* inApp("POST", "/products", subscription("b"))
      const body = { identifier: "pro", name: "Pro", product_identifiers: ["b", "a", "b"] }
      const made = yield* inApp("POST", "/entitlements", body)
      strictEqual(made.status, 201)
      deepStrictEqual(made.body.data.product_identifiers, ["a", "b"])
      strictEqual((yield* inApp("POST", "/entitlements", body)).status, 409)
      const unknown = { identifier: "gold", name: "Gold", product_identifiers: ["a", "x"] }
      deepStrictEqual(fieldsOf(yield* inApp("POST", "/entitlements", unknown)), ["product_identifiers.1"])
      deepStrictEqual(fieldsOf(yield* inApp("POST", "/entitlements", {})), ["identifier", "name"])
      const path = `/entitlements/${made.body.data.uuid}`
      deepStrictEqual(fieldsOf(yield* api("PATCH", path, unknown)), ["product_identifiers.1"])
      const changed = yield* api("PATCH", path, { name: "Pro+", product_identifiers: ["b"] })
      deepStrictEqual(changed.body.data, { ...made.body.data, name: "Pro+", product_identifiers: ["b"] })
      deepStrictEqual((yield* inApp("GET", "/entitlements")).body.data, [changed.body.data])
      const second = yield* inApp("POST", "/entitlements", { identifier: "gold", name: "Gold" })
      strictEqual((yield* api("PATCH", `/entitlements/${second.body.data.uuid}`, { identifier: "pro" })).status, 409)
      strictEqual((yield* api("PATCH", path, { identifier: "premium" })).body.data.identifier, "premium")
      strictEqual((yield* api("PATCH", path, { name: "" })).status, 422)
      strictEqual((yield* api("DELETE", path)).body.data.deleted, true)
      deepStrictEqual(identifiers(yield* inApp("GET", "/entitlements")), ["gold"])
      strictEqual((yield* api("DELETE", path)).status, 404)
      strictEqual((yield* inApp("GET", "/products")).body.data.length, 2)
    })
  )

  it.effect("one offering is current: the flag moves, also when many want it at once", () =>
    Effect.gen(function* () {
      const { api, app, inApp } = yield* teamWithApp
      const shown = Effect.map(api("GET", "/client/offerings", undefined, app.public_api_key), ({ body }) => body.data)
      deepStrictEqual(yield* shown, { current_offering_id: null, offerings: [] })
      const first = yield* inApp("POST", "/offerings", { identifier: "default" })
      deepStrictEqual(first.body.data, {
        uuid: first.body.data.uuid,
        identifier: "default",
        is_current: false,
        packages: []
      })
      strictEqual((yield* shown).current_offering_id, null)
      yield* inApp("POST", "/offerings", { identifier: "sale", is_current: true })
      const path = `/offerings/${first.body.data.uuid}`
      strictEqual((yield* api("PATCH", path, { is_current: true })).body.data.is_current, true)
      deepStrictEqual(
        (yield* inApp("GET", "/offerings")).body.data.map(({ is_current }: { is_current: boolean }) => is_current),
        [false, true]
      )
      strictEqual((yield* shown).current_offering_id, "default")
      const moves = yield* Effect.forEach(
        Array.from({ length: 12 }, (_, index) => index),
        (index) =>
          index % 2 === 0
            ? inApp("POST", "/offerings", { identifier: `o${index}`, is_current: true })
            : api("PATCH", path, { is_current: true }),
        { concurrency: 12 }
      )
      assertTrue(moves.every(({ status }) => status === 201 || status === 200))
      const all = (yield* inApp("GET", "/offerings")).body.data
      strictEqual(all.filter(({ is_current }: { is_current: boolean }) => is_current).length, 1)
      strictEqual((yield* inApp("POST", "/offerings", { identifier: "sale" })).status, 409)
      strictEqual((yield* api("PATCH", path, { identifier: "sale" })).status, 409)
      strictEqual((yield* api("PATCH", path, { identifier: "renamed" })).body.data.identifier, "renamed")
      deepStrictEqual(fieldsOf(yield* inApp("POST", "/offerings", { is_current: "yes" })), ["identifier", "is_current"])
      strictEqual((yield* api("PATCH", path, { is_current: true })).status, 200)
      strictEqual((yield* api("PATCH", path, { is_current: false })).body.data.is_current, false)
      strictEqual((yield* shown).current_offering_id, null)
      strictEqual((yield* api("DELETE", path)).body.data.deleted, true)
      strictEqual((yield* api("PATCH", path, {})).status, 404)
    })
  )

  it.effect("packages name a known product and are unique within their offering", () =>
    Effect.gen(function* () {
      const { api, app, inApp } = yield* teamWithApp
      yield* inApp("POST", "/products", subscription("a", { price: 9.99, currency: "USD" }))
      yield* inApp("POST", "/products", subscription("b"))
      const make = (identifier: string) =>
        Effect.map(inApp("POST", "/offerings", { identifier }), ({ body }): string => body.data.uuid)
      const [one, two] = [yield* make("one"), yield* make("two")]
      const path = `/offerings/${one}/packages`
      const body = { identifier: "$m", package_type: "monthly", product_identifier: "a" }
      const made = yield* api("POST", path, body)
      strictEqual(made.status, 201)
      deepStrictEqual(made.body.data, { uuid: made.body.data.uuid, ...body })
      strictEqual((yield* api("POST", path, body)).status, 409)
      strictEqual((yield* api("POST", `/offerings/${two}/packages`, body)).status, 201)
      deepStrictEqual(fieldsOf(yield* api("POST", path, { ...body, identifier: "x", product_identifier: "zz" })), [
        "product_identifier"
      ])
      deepStrictEqual(fieldsOf(yield* api("POST", path, { package_type: "daily" })), [
        "identifier",
        "package_type",
        "product_identifier"
      ])
      for (const package_type of ["annual", "weekly", "two_month", "three_month", "six_month", "lifetime", "custom"]) {
        strictEqual((yield* api("POST", path, { ...body, identifier: package_type, package_type })).status, 201)
      }
      const own = `/packages/${made.body.data.uuid}`
      strictEqual((yield* api("PATCH", own, { identifier: "annual" })).status, 409)
      deepStrictEqual(fieldsOf(yield* api("PATCH", own, { product_identifier: "zz" })), ["product_identifier"])
      const changed = yield* api("PATCH", own, { product_identifier: "b", package_type: "custom" })
      deepStrictEqual(changed.body.data, { ...made.body.data, product_identifier: "b", package_type: "custom" })
      const listed = yield* api("GET", `${path}?limit=3`)
      deepStrictEqual(identifiers(listed), ["custom", "lifetime", "six_month"])
      const rest = yield* api("GET", `${path}?limit=100&cursor=${listed.body.next_cursor}`)
      deepStrictEqual(identifiers(rest), ["three_month", "two_month", "weekly", "annual", "$m"])
      strictEqual(rest.body.next_cursor, null)
      const client = yield* api("GET", "/client/offerings", undefined, app.public_api_key)
      deepStrictEqual(client.body.data.offerings[0].packages[0], {
        ...changed.body.data,
        products: [(yield* inApp("GET", "/products")).body.data[0]]
      })
      strictEqual((yield* api("DELETE", own)).body.data.deleted, true)
      strictEqual((yield* api("DELETE", own)).status, 404)
      strictEqual((yield* api("DELETE", `/offerings/${one}`)).status, 200)
      strictEqual((yield* api("GET", path)).status, 404)
      strictEqual((yield* api("POST", path, body)).status, 404)
    })
  )

  it.effect("lists show each record once, newest first, while others are being added", () =>
    Effect.gen(function* () {
      const { inApp } = yield* teamWithApp
      const add = (name: string) => inApp("POST", "/products", subscription(name))
      yield* Effect.forEach(
        Array.from({ length: 25 }, (_, index) => `old${index}`),
        add
      )
      const seen: Array<string> = []
      let cursor: string | null = ""
      while (cursor !== null) {
        const query: string = cursor === "" ? "" : `&cursor=${cursor}`
        const [page] = yield* Effect.all(
          [inApp("GET", `/products?limit=4${query}`), add(`new${seen.length}a`), add(`new${seen.length}b`)],
          { concurrency: 3 }
        )
        seen.push(...identifiers(page).filter((name) => name.startsWith("old")))
        cursor = page.body.next_cursor
      }
      deepStrictEqual(
        seen,
        Array.from({ length: 25 }, (_, index) => `old${24 - index}`)
      )
      for (const kind of ["products", "entitlements", "offerings"]) {
        strictEqual((yield* inApp("GET", `/${kind}?cursor=nonsense`)).status, 400)
        deepStrictEqual(fieldsOf(yield* inApp("GET", `/${kind}?limit=101`)), ["limit"])
      }
    })
  )

  it.effect("records of another workspace look absent, and abilities and roles are asked for", () =>
    Effect.gen(function* () {
      const { api, app, inApp, token } = yield* teamWithApp
      const stranger = yield* registered
      const product = (yield* inApp("POST", "/products", subscription("a"))).body.data.uuid
      const entitlement = (yield* inApp("POST", "/entitlements", { identifier: "e", name: "E" })).body.data.uuid
      const offering = (yield* inApp("POST", "/offerings", { identifier: "o" })).body.data.uuid
      const found = (yield* api("POST", `/offerings/${offering}/packages`, {
        identifier: "m",
        package_type: "monthly",
        product_identifier: "a"
      })).body.data.uuid
      const reader = (yield* api("POST", "/auth/tokens", { name: "r", abilities: ["catalog:read"] })).body.data.token
      const doors = [
        ["GET", `/products/${product}`],
        ["PATCH", `/products/${product}`],
        ["DELETE", `/products/${product}`],
        ["PATCH", `/entitlements/${entitlement}`],
        ["DELETE", `/entitlements/${entitlement}`],
        ["PATCH", `/offerings/${offering}`],
        ["DELETE", `/offerings/${offering}`],
        ["GET", `/offerings/${offering}/packages`],
        ["PATCH", `/packages/${found}`],
        ["DELETE", `/packages/${found}`]
      ] as const
      for (const [method, path] of doors) {
        const body = method === "PATCH" ? {} : undefined
        const foreign = yield* stranger.api(method, path, body)
        strictEqual(foreign.status, 404, `${method} ${path}`)
        const absent = path.replace(/[0-9a-f-]{36}/, "01920000-0000-7000-8000-000000000000")
        deepStrictEqual((yield* api(method, absent, body)).body, foreign.body)
        strictEqual((yield* api(method, path.replace(/[0-9a-f-]{36}/, "x"), body)).status, 404)
        strictEqual((yield* api(method, path, body, reader)).status, method === "GET" ? 200 : 403, `${method} ${path}`)
        strictEqual((yield* api(method, path, body, app.public_api_key)).status, 401)
      }
      for (const kind of ["products", "entitlements", "offerings"]) {
        strictEqual((yield* stranger.api("GET", `/apps/${app.uuid}/${kind}`)).status, 404)
        strictEqual((yield* api("GET", `/apps/${app.uuid}/${kind}`, undefined, reader)).status, 200)
      }
      strictEqual((yield* api("GET", "/client/offerings", undefined, token)).status, 401)
    })
  )
})
