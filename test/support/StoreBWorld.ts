import { NodeContext, NodeHttpClient } from "@effect/platform-node"
import { strictEqual } from "@effect/vitest/utils"
import { Context, Effect, Layer, Option } from "effect"
import * as StoreB from "../../src/simulator/store-b/StoreBSimulator.ts"
import { call } from "./Api.ts"
import * as Gatehouse from "./Gatehouse.ts"
import * as TestDatabase from "./TestDatabase.ts"

export const packageName = "com.example.notes"

/** The program beside a store B of its own, for all stories of this file. */
export class World extends Context.Tag("test/support/StoreBWorld")<
  World,
  { readonly url: string; readonly databaseUrl: string; readonly store: StoreB.StoreBSimulator }
>() {
  static readonly layer = Layer.scoped(
    World,
    Effect.gen(function* () {
      const store = yield* StoreB.start({ port: 0, notificationUrl: Option.none() })
      const port = String(yield* Gatehouse.freePort)
      const databaseUrl = yield* TestDatabase.url
      const { url } = yield* Gatehouse.serve({
        PORT: port,
        PUBLIC_URL: `http://127.0.0.1:${port}/`,
        DATABASE_URL: databaseUrl,
        STORE_B_API_URL: store.url,
        STORE_B_PUSH_JWKS_URL: store.pushKeysUrl
      })
      return { url, databaseUrl, store }
    })
  ).pipe(Layer.provide([NodeContext.layer, NodeHttpClient.layerUndici]), Layer.orDie)
}

/** A team that sells in store B, and how its phones and the store behave. */
export const makeTeam = Effect.gen(function* () {
  const { store, url } = yield* World
  const registered = yield* call("POST", `${url}/api/v1/auth/register`, {
    body: { name: "Ann", email: `ann${Math.random()}@example.com`, password: "eight characters" }
  })
  const token: string = registered.body.data.token
  const api = (method: string, path: string, body?: unknown) => call(method, `${url}/api/v1${path}`, { token, body })
  const made = yield* api("POST", "/apps", { name: "Notes", package_name: packageName })
  const app: string = made.body.data.uuid
  const product = { store: "store_b", type: "subscription", subscription_period: "P1M" }
  yield* api("POST", `/apps/${app}/products`, { ...product, identifier: "pro:monthly", name: "Pro" })
  yield* api("POST", `/apps/${app}/products`, { ...product, identifier: "max:monthly", name: "Max" })
  yield* api("POST", `/apps/${app}/entitlements`, {
    identifier: "pro",
    name: "Pro",
    product_identifiers: ["pro:monthly", "max:monthly"]
  })
  const giveCredential = Effect.gen(function* () {
    const file = yield* call("GET", `${store.url}/_control/service-account`)
    const put = yield* api("POST", `/apps/${app}/credentials`, {
      platform: "store_b",
      store_b_service_account_json: JSON.stringify(file.body)
    })
    strictEqual(put.status, 201)
  })
  const endpoint = `${url}/api/v1/stores/store_b/notifications/${app}`
  const user = `user-${Math.random()}`
  const control = (path: string, body: object = {}) => call("POST", `${store.url}/_control${path}`, { body })
  const buy = (more: object = {}) =>
    control("/purchases", {
      package_name: packageName,
      product_id: "pro",
      base_plan_id: "monthly",
      obfuscated_account_id: user,
      notification_url: endpoint,
      ...more
    })
  const subscriber = Effect.map(
    call("GET", `${url}/api/v1/client/subscribers/${user}`, { token: made.body.data.public_api_key }),
    ({ body }) => body.subscriber
  )
  const inbox = Effect.map(api("GET", `/apps/${app}/store-notifications`), ({ body }) => body.data)
  const types = Effect.map(api("GET", `/apps/${app}/events?limit=100`), ({ body }): ReadonlyArray<string> =>
    body.data.map(({ type }: { type: string }) => type).reverse()
  )
  const show = (purchaseToken: string, appUserId: string, productId = "pro") =>
    call("POST", `${url}/api/v1/client/receipts`, {
      token: made.body.data.public_api_key,
      body: { store: "store_b", app_user_id: appUserId, product_id: productId, purchase_token: purchaseToken }
    })
  const purchases = Effect.map(call("GET", `${store.url}/_control/purchases`), ({ body }) => body)
  return { api, app, endpoint, control, buy, subscriber, inbox, types, purchases, show, giveCredential, user }
})

/** What the program answered to the push that a control call sent. */
export const answered = (moved: { readonly body: any }) => ({
  status: moved.body.receiver.status as number,
  data: JSON.parse(moved.body.receiver.body).data
})
