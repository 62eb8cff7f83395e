import { layer } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { Client } from "pg"
import { call } from "../support/Api.ts"
import { Program, subscription, teamWithApp } from "../support/Registered.ts"

/** A row of the ledger as a receipt leaves it: bought for ever, in store B. */
const buy = Effect.fn(function* (app: string, person: string, identifier: string) {
  const { databaseUrl } = yield* Program
  yield* Effect.promise(async () => {
    const client = new Client({ connectionString: databaseUrl })
    await client.connect()
    await client.query(
      `INSERT INTO transactions (id, app_id, customer_id, store, environment, store_transaction_id,
        original_transaction_id, product_identifier, period_type, ownership_type, purchase_date, created_at)
      SELECT gen_random_uuid(), app_id, id, 'store_b', 'production', app_user_id, app_user_id, $3, 'normal', 'purchased',
        now(), now() FROM customers WHERE app_id = $1 AND app_user_id = $2`,
      [app, person, identifier]
    )
    await client.end()
  })
})

layer(Program.layer, { excludeTestServices: true })("a base plan of store B", (it) => {
  it.effect("unlocks what its own product unlocks, else what the product without the plan does", () =>
    Effect.gen(function* () {
      const { url } = yield* Program
      const { app, inApp } = yield* teamWithApp
      const inStoreB = { store: "store_b" }
      strictEqual((yield* inApp("POST", "/products", subscription("pro", inStoreB))).status, 201)
      yield* inApp("POST", "/entitlements", { identifier: "basic", name: "Basic", product_identifiers: ["pro"] })
      yield* inApp("POST", "/customers", { app_user_id: "ann" })
      yield* buy(app.uuid, "ann", "pro:yearly")
      const unlocked = Effect.map(
        call("GET", `${url}/api/v1/client/subscribers/ann`, { token: app.public_api_key }),
        ({ body }) => Object.entries<any>(body.subscriber.entitlements).map(([name, one]) => [name, one.is_active])
      )
      deepStrictEqual(yield* unlocked, [["basic", true]])

      const plan = yield* inApp("POST", "/products", subscription("pro:yearly", inStoreB))
      strictEqual(plan.status, 201)
      deepStrictEqual(yield* unlocked, [])
      yield* inApp("POST", "/entitlements", { identifier: "gold", name: "Gold", product_identifiers: ["pro:yearly"] })
      deepStrictEqual(yield* unlocked, [["gold", true]])
      const { body } = yield* inApp("GET", "/customers")
      deepStrictEqual(body.data[0].active_entitlements, ["gold"])
    })
  )

  it.effect("is what was bought under the identifier of its product, which then stays", () =>
    Effect.gen(function* () {
      const { api, app, inApp } = yield* teamWithApp
      const make = (identifier: string) =>
        Effect.map(
          inApp("POST", "/products", subscription(identifier, { store: "store_b" })),
          ({ body }): string => body.data.uuid
        )
      const [pro, prone] = [yield* make("pro"), yield* make("prone")]
      yield* inApp("POST", "/customers", { app_user_id: "ann" })
      for (const [index, name] of ["a", "pro:yearly", "z"].entries()) {
        yield* inApp("POST", "/customers", { app_user_id: `u${index}` })
        yield* buy(app.uuid, `u${index}`, name)
      }
      strictEqual((yield* api("PATCH", `/products/${pro}`, { identifier: "other" })).status, 409)
      strictEqual((yield* api("PATCH", `/products/${prone}`, { identifier: "other" })).status, 200)
    })
  )
})
