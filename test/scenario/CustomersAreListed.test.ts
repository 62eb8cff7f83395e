import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { call } from "../support/Api.ts"
import { makeTeam, Program } from "../support/Team.ts"

const names = (answer: { readonly body: any }): Array<string> =>
  answer.body.data.map(({ app_user_id }: { app_user_id: string }) => app_user_id)

layer(Program.layer, { excludeTestServices: true })("customers are listed, found, created and shown", (it) => {
  it.effect("with what they may use and what they paid; sandbox, refunded and promised money does not count", () =>
    Effect.gen(function* () {
      const { world } = yield* Program
      const team = yield* makeTeam
      yield* team.read("$anonymous:1")
      yield* team.buy("ann")
      yield* team.buy("ann", { product_id: "pro.yearly", price: 3010 })
      yield* team.buy("ann", { product_id: "pro.weekly", price: 5000, currency: "EUR" })
      yield* team.buy("ben", { environment: "Sandbox" })
      const refunded = yield* team.buy("carl")
      const purchase: string = refunded.body.purchase.originalTransactionId
      yield* call("POST", `${world.storeA.url}/_control/purchases/${purchase}/refund`, { body: {} })
      yield* team.buy("dora", { trial: true })
      const { body } = yield* team.ask("GET", "/customers")
      const shown = body.data.map(
        ({ active_entitlements, active_subscriptions, app_user_id, is_anonymous, total_spent }: any) => [
          app_user_id,
          is_anonymous,
          active_entitlements,
          active_subscriptions,
          total_spent
        ]
      )
      deepStrictEqual(shown, [
        ["dora", false, ["pro"], 1, { USD: 0 }],
        ["carl", false, [], 0, {}],
        ["ben", false, ["pro"], 1, {}],
        ["ann", false, ["pro"], 3, { EUR: 5, USD: 13 }],
        ["$anonymous:1", true, [], 0, {}]
      ])
      const ann = yield* team.read("ann")
      assert.deepInclude(body.data[3], { first_seen: ann.first_seen, last_seen: ann.last_seen })
      assert.strictEqual(ann.management_url, "https://apps.apple.com/account/subscriptions")
      assert.isNull((yield* team.read("carl")).management_url)
    })
  )

  it.effect("page by page, each once, while new ones arrive", () =>
    Effect.gen(function* () {
      const team = yield* makeTeam
      for (let index = 0; index < 7; index++) yield* team.read(`user-${index}`)
      const seen: Array<string> = []
      let cursor = ""
      for (let page = 0; ; page++) {
        const answer = yield* team.ask("GET", `/customers?limit=3${cursor}`)
        seen.push(...names(answer))
        yield* team.read(`late-${page}`)
        if (answer.body.next_cursor === null) break
        cursor = `&cursor=${answer.body.next_cursor}`
      }
      deepStrictEqual(
        seen,
        [6, 5, 4, 3, 2, 1, 0].map((index) => `user-${index}`)
      )
      assert.strictEqual((yield* team.ask("GET", "/customers?cursor=nonsense")).status, 400)
      assert.strictEqual((yield* team.ask("GET", "/customers?limit=0")).status, 422)
      assert.strictEqual((yield* team.ask("GET", "/customers?search=")).status, 422)
      assert.strictEqual((yield* team.ask("GET", "/customers?search=%00")).status, 422)
    })
  )

  it.effect("by how their id begins, in any case, with no character standing for others", () =>
    Effect.gen(function* () {
      const team = yield* makeTeam
      for (const name of ["ann@example.com", "Anna", "100%", "100 percent", "a_b", "axb", "back\\slash", "Ödön"]) {
        yield* team.read(name)
      }
      const search = (text: string) =>
        Effect.map(team.ask("GET", `/customers?search=${encodeURIComponent(text)}`), names)
      deepStrictEqual(yield* search("ANN"), ["Anna", "ann@example.com"])
      deepStrictEqual(yield* search("100%"), ["100%"])
      deepStrictEqual(yield* search("a_"), ["a_b"])
      deepStrictEqual(yield* search("back\\"), ["back\\slash"])
      deepStrictEqual(yield* search("öd"), ["Ödön"])
      deepStrictEqual(yield* search("example"), [])
      const paged = yield* team.ask("GET", "/customers?search=an&limit=1")
      const rest = yield* team.ask("GET", `/customers?search=an&limit=1&cursor=${paged.body.next_cursor}`)
      deepStrictEqual([...names(paged), ...names(rest)], ["Anna", "ann@example.com"])
    })
  )

  it.effect("under any name that a person may bear, and under no other", () =>
    Effect.gen(function* () {
      const team = yield* makeTeam
      const strange = [
        "a/b",
        "a%2Fb",
        "a/..",
        "ü",
        "漢字",
        "🦊".repeat(255),
        " x ",
        "?a=1#b",
        "%",
        "'\"\\",
        "__proto__"
      ]
      for (const name of strange) {
        assert.strictEqual((yield* team.phone("GET", name)).body.subscriber?.app_user_id, name)
        assert.strictEqual((yield* team.ask("GET", team.customer(name))).body.subscriber?.app_user_id, name)
      }
      assert.sameMembers(names(yield* team.ask("GET", "/customers")), strange)
      assert.strictEqual((yield* team.ask("POST", "/customers", { app_user_id: ".." })).status, 422)
      for (const bad of ["a\u0000b", "a\nb", "x".repeat(256)]) {
        assert.strictEqual((yield* team.phone("GET", bad)).status, 422)
        assert.strictEqual((yield* team.ask("GET", team.customer(bad))).status, 422)
        const created = yield* team.ask("POST", "/customers", { app_user_id: bad })
        deepStrictEqual([created.status, Object.keys(created.body.errors)], [422, ["app_user_id"]])
      }
    })
  )

  it.effect("the management creates one that the phone then finds, once", () =>
    Effect.gen(function* () {
      const team = yield* makeTeam
      const created = yield* team.ask("POST", "/customers", { app_user_id: "ann" })
      assert.strictEqual(created.status, 201)
      const { first_seen, last_seen, uuid, ...rest } = created.body.data
      deepStrictEqual(rest, {
        app_user_id: "ann",
        is_anonymous: false,
        active_entitlements: [],
        active_subscriptions: 0,
        total_spent: {}
      })
      deepStrictEqual((yield* team.ask("GET", "/customers")).body.data, [created.body.data])
      const subscriber = yield* team.read("ann")
      deepStrictEqual(subscriber, {
        app_user_id: "ann",
        original_app_user_id: "ann",
        is_anonymous: false,
        first_seen,
        last_seen,
        management_url: null,
        entitlements: {},
        subscriptions: {},
        non_subscriptions: {},
        aliases: []
      })
      const again = yield* team.ask("POST", "/customers", { app_user_id: "ann" })
      deepStrictEqual([again.status, Object.keys(again.body.errors)], [409, ["app_user_id"]])
      yield* team.identify("$anonymous:1", "ann")
      assert.strictEqual((yield* team.ask("POST", "/customers", { app_user_id: "$anonymous:1" })).status, 409)
      assert.strictEqual((yield* team.ask("POST", "/customers", {})).status, 422)
      const twins = yield* Effect.all(
        Array.from({ length: 5 }, () => team.ask("POST", "/customers", { app_user_id: "twin" })),
        { concurrency: 5 }
      )
      assert.sameMembers(
        twins.map(({ status }) => status),
        [201, 409, 409, 409, 409]
      )
      const told = yield* team.told("customer.created")
      deepStrictEqual(
        told.map(({ app_user_id, data }) => [app_user_id, data]),
        [
          ["ann", { app_user_id: "ann", is_anonymous: false }],
          ["$anonymous:1", { app_user_id: "$anonymous:1", is_anonymous: true }],
          ["twin", { app_user_id: "twin", is_anonymous: false }]
        ]
      )
      assert.match(uuid, /^[0-9a-f-]{36}$/)
      assert.strictEqual((yield* team.ask("GET", team.customer("nobody"))).status, 404)
    })
  )

  it.effect(
    "to those who may: reading needs customers:read, changing customers:write, and foreign apps look absent",
    () =>
      Effect.gen(function* () {
        const { url } = yield* Program
        const team = yield* makeTeam
        const other = yield* makeTeam
        yield* team.read("ann")
        const { body } = yield* call("POST", `${url}/api/v1/auth/tokens`, {
          token: team.token,
          body: { name: "reader", abilities: ["customers:read"] }
        })
        const reading = [
          "/customers",
          "/customers/ann",
          "/customers/ann/grants",
          "/customers/ann/history",
          "/subscriptions",
          "/transactions",
          "/events"
        ].map((path) => ["GET", path] as const)
        const writing = [
          ["POST", "/customers", { app_user_id: "ben" }],
          ["POST", "/customers/ann/grants", { entitlement_identifier: "pro" }],
          ["DELETE", "/customers/ann/grants/x"],
          ["DELETE", "/customers/ann"]
        ] as const
        const ask = (token: string | undefined, [method, path, payload]: readonly [string, string, unknown?]) =>
          Effect.map(
            call(method, `${url}/api/v1/apps/${team.id}${path}`, { token, body: payload }),
            ({ status }) => status
          )
        for (const request of reading) assert.strictEqual(yield* ask(body.data.token, request), 200, request[1])
        for (const request of writing) assert.strictEqual(yield* ask(body.data.token, request), 403, request[1])
        for (const request of [...reading, ...writing]) {
          assert.strictEqual(yield* ask(other.token, request), 404, request[1])
          assert.strictEqual(yield* ask(undefined, request), 401, request[1])
          assert.strictEqual(yield* ask(team.key, request), 401, request[1])
        }
        deepStrictEqual(names(yield* team.ask("GET", "/customers")), ["ann"])
      })
  )
})
