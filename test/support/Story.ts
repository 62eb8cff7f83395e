import { NodeContext, NodeHttpClient } from "@effect/platform-node"
import { strictEqual } from "@effect/vitest/utils"
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer, Option, Schedule } from "effect"
import * as ChatCompletions from "../../src/simulator/chat-completions/ChatCompletionsSimulator.ts"
import * as PlatformB from "../../src/simulator/platform-b/PlatformBSimulator.ts"
import * as StoreA from "../../src/simulator/store-a/StoreASimulator.ts"
import { call } from "./Api.ts"
import * as Gatehouse from "./Gatehouse.ts"
import * as TestDatabase from "./TestDatabase.ts"
import * as HookLedger from "./HookLedger.ts"
import { p256Key } from "./StoreKeys.ts"

const services = Layer.merge(NodeContext.layer, NodeHttpClient.layerUndici)

/** Everything around the program: simulators, a database that outlives it, settings that point at them. */
export const makeWorld = Effect.gen(function* () {
  const context = yield* Layer.build(services)
  const storeA = yield* Effect.provide(StoreA.start({ port: 0, notificationUrl: Option.none() }), context)
  const platformB = yield* PlatformB.start({ port: 0 })
  const provider = yield* ChatCompletions.start({ port: 0, apiKey: Option.some("sk-secret-of-the-shop") })
  const receiver = yield* HookLedger.start
  const databaseUrl = yield* TestDatabase.url
  const rootFile = join(mkdtempSync(join(tmpdir(), "gatehouse-root-")), "root.pem")
  writeFileSync(rootFile, storeA.rootPem)
  const env = {
    DATABASE_URL: databaseUrl,
    STORE_A_ROOT_CERTIFICATES: rootFile,
    STORE_A_API_URL: storeA.url,
    STORE_A_SANDBOX_API_URL: `${storeA.url}/sandbox`,
    PLATFORM_B_URL: platformB.url,
    PLATFORM_B_POLL_SECONDS: "1"
  }
  return { storeA, platformB, provider, receiver, databaseUrl, env }
}).pipe(Effect.provide(services), Effect.orDie)

export type World = Effect.Effect.Success<typeof makeWorld>

/** Looks again until what is asked for is there. */
export const eventually = <A>(look: Effect.Effect<A | undefined>, what: string) =>
  look.pipe(
    Effect.flatMap((found) => (found === undefined ? Effect.fail(what) : Effect.succeed(found))),
    Effect.retry(Schedule.spaced("100 millis").pipe(Schedule.upTo("25 seconds"))),
    Effect.orDieWith((missing) => new Error(`never: ${missing}`))
  )

/** A registered team with an app, a product that unlocks "pro", and a webhook. */
export const makeApp = Effect.fn(function* (url: string, hook: string, bundleId = "com.example.notes") {
  const email = `ann${crypto.randomUUID()}@example.com`
  const registered = yield* call("POST", `${url}/api/v1/auth/register`, {
    body: { name: "Ann", email, password: "eight characters" }
  })
  const token: string = registered.body.data.token
  const app = yield* call("POST", `${url}/api/v1/apps`, { token, body: { name: "Notes", bundle_id: bundleId } })
  const id: string = app.body.data.uuid
  const product = {
    store: "store_a",
    identifier: "pro.monthly",
    name: "Pro",
    type: "subscription",
    subscription_period: "P1M"
  }
  yield* call("POST", `${url}/api/v1/apps/${id}/products`, { token, body: product })
  const entitlement = { identifier: "pro", name: "Pro", product_identifiers: ["pro.monthly"] }
  yield* call("POST", `${url}/api/v1/apps/${id}/entitlements`, { token, body: entitlement })
  const webhook = yield* call("POST", `${url}/api/v1/apps/${id}/webhooks`, { token, body: { url: hook } })
  return { token, id, key: app.body.data.public_api_key as string, secret: webhook.body.data.secret as string }
})

export const buy = (world: World, url: string, appId: string, more: object = {}) =>
  call("POST", `${world.storeA.url}/_control/purchases`, {
    body: {
      bundle_id: "com.example.notes",
      product_id: "pro.monthly",
      app_account_token: "0d2f7a4e-7c1b-4a9e-8f0a-944455556666",
      notification_url: `${url}/api/v1/stores/store_a/notifications/${appId}`,
      ...more
    }
  })

/** A key of the app's own at store A, known to both sides. */
export const giveCredential = Effect.fn(function* (
  world: World,
  url: string,
  app: { readonly id: string; readonly token: string }
) {
  const [issuer, keyId, key] = ["57246542-96fe-1a63-e053-0824d011072a", "KEY0000001", p256Key()]
  yield* call("POST", `${world.storeA.url}/_control/keys`, {
    body: { issuer_id: issuer, key_id: keyId, bundle_id: "com.example.notes", private_key: key }
  })
  const { status } = yield* call("POST", `${url}/api/v1/apps/${app.id}/credentials`, {
    token: app.token,
    body: { platform: "store_a", store_a_issuer_id: issuer, store_a_key_id: keyId, store_a_private_key: key }
  })
  strictEqual(status, 201)
})

export const operatorToken = (url: string) =>
  Effect.map(
    call("POST", `${url}/v1/auth/login`, {
      body: { email: Gatehouse.secrets.OPERATOR_EMAIL, password: Gatehouse.secrets.OPERATOR_PASSWORD }
    }),
    ({ body }): string => body.data.token
  )

/** For stories that are not about pacing. */
export const unpaced = { gap_seconds: [0, 0], per_minute: null, per_hour: null, per_day: null, new_chats_per_day: null }

/** A connected platform_b channel that answers by AI, with a webhook, whose first poll is done. */
export const makeChannel = Effect.fn(function* (
  world: World,
  url: string,
  username = "shop",
  { ordered = false }: { readonly ordered?: boolean } = {}
) {
  const token = yield* operatorToken(url)
  yield* call("PUT", `${url}/v1/ai/global`, {
    token,
    body: {
      enabled: true,
      base_url: `${world.provider.url}/v1`,
      api_key: "sk-secret-of-the-shop",
      model_name: "m",
      reply_delay_seconds: 0
    }
  })
  const account = yield* call("POST", `${url}/v1/accounts`, { token, body: { name: "Shop", platform: "platform_b" } })
  const id: string = account.body.data.id
  const webhook = yield* call("POST", `${url}/v1/accounts/${id}/webhooks`, {
    token,
    body: { url: world.receiver.url, ordered }
  })
  yield* call("PUT", `${url}/v1/accounts/${id}/pacing`, { token, body: unpaced })
  yield* call("POST", `${world.platformB.url}/_control/accounts`, {
    body: { username, password: "s3cret-of-the-shop" }
  })
  const connected = yield* call("POST", `${url}/v1/accounts/${id}/connect`, {
    token,
    body: { username, password: "s3cret-of-the-shop" }
  })
  yield* eventually(
    Effect.map(call("GET", `${url}/v1/accounts/${id}`, { token }), ({ body }) => body.data.last_synced_at ?? undefined),
    "first poll"
  )
  return {
    token,
    id,
    channelToken: account.body.data.token as string,
    secret: webhook.body.data.secret as string,
    connected
  }
})

export const write = (world: World, from: string, to: string, text: string) =>
  call("POST", `${world.platformB.url}/_control/messages`, { body: { from, to, text } })

/** What a person on the platform reads in the chat with an account, oldest first, with the author's name. */
export const chatOf = (world: World, person: string) =>
  Effect.map(
    call("GET", `${world.platformB.url}/_control/threads`),
    ({ body }): ReadonlyArray<{ readonly from: string; readonly text: string }> =>
      body
        .filter(({ members }: { members: Array<string> }) => members.includes(person))
        .flatMap(({ items }: { items: Array<{ from: string; text: string }> }) => items)
  )
