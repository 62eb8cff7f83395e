import { HttpRouter, HttpServerResponse } from "@effect/platform"
import { NodeContext, NodeHttpClient } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { assertNone, assertSome, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { DateTime, Duration, Effect, Exit, Inspectable, Layer, Option } from "effect"
import { exportJWK, generateKeyPair, SignJWT } from "jose"
import { App, AppId } from "../../../src/catalog/domain/App.ts"
import { TenantId } from "../../../src/identity/domain/User.ts"
import { listen } from "../../../src/simulator/SimulatorServer.ts"
import * as Simulator from "../../../src/simulator/store-b/StoreBSimulator.ts"
import { Credentials } from "../../../src/store/Credentials.ts"
import { readServiceAccount } from "../../../src/store/domain/ServiceAccount.ts"
import * as StoreBDriver from "../../../src/store/store-b/StoreBDriver.ts"
import { StoreB } from "../../../src/store/StoreB.ts"
import { call } from "../../support/Api.ts"

const id = "0d2f7a4e-7c1b-4a9e-8f0a-944455556666"
const packageName = "com.example.notes"
const audience = "https://gatehouse.example/push"
const email = "pusher@example.com"
const now = DateTime.unsafeMake(0)

const app = App.make({
  id: AppId.make(id),
  tenantId: TenantId.make(id),
  name: "Notes",
  slug: "notes",
  bundleId: Option.none(),
  packageName: Option.some(packageName),
  platforms: [],
  publicApiKey: "key",
  transferBehavior: "transfer",
  status: "active",
  createdAt: now,
  updatedAt: now
})

/** The driver against a simulator whose account the app has stored. */
const makeStore = Effect.gen(function* () {
  const simulator = yield* Simulator.start({ port: 0, notificationUrl: Option.none() })
  const file = yield* call("GET", `${simulator.url}/_control/service-account`)
  const account = yield* readServiceAccount(JSON.stringify(file.body), Option.some(file.body.token_uri))
  const credentials = Layer.mock(Credentials, {
    storeB: (_, environment) =>
      Effect.succeed(
        environment === "production" ? Option.some({ account, packageName: Option.none() }) : Option.none()
      )
  })
  const driver = yield* Layer.build(
    StoreBDriver.layer({
      apiUrl: Option.some(simulator.url),
      pushKeysUrl: Option.some(simulator.pushKeysUrl),
      pushAudience: () => Option.none(),
      pushEmail: Option.none()
    }).pipe(Layer.provide(credentials))
  )
  const control = (path: string, body: object = {}) => call("POST", `${simulator.url}/_control${path}`, { body })
  const bought = yield* control("/purchases", { package_name: packageName, product_id: "pro" })
  const token: string = bought.body.purchase.token
  const ask = (purchaseToken = token) =>
    Effect.flatMap(StoreB, (store) =>
      store.purchase(app, {
        purchaseToken,
        type: "subscription",
        factId: "f",
        kind: "observed",
        voided: new Map(),
        originOf: () => Effect.succeedNone
      })
    ).pipe(Effect.provide(driver))
  const seen = Effect.map(call("GET", `${simulator.url}/_control/requests`), ({ body }): ReadonlyArray<string> =>
    body.map(({ path }: { path: string }) => path)
  )
  return { simulator, control, token, ask, seen, driver, order: bought.body.purchase.order as string }
})

const services = Layer.merge(NodeContext.layer, NodeHttpClient.layerUndici)

layer(services, { excludeTestServices: true })("the driver of store B", (it) => {
  it.scoped("obtains one access token for many that ask at once", () =>
    Effect.gen(function* () {
      const store = yield* makeStore
      const answers = yield* Effect.all(
        Array.from({ length: 10 }, () => store.ask()),
        { concurrency: 10 }
      )
      assert.isTrue(answers.every(({ facts }) => facts[0]?.originalTransactionId === store.order))
      strictEqual((yield* store.seen).filter((path) => path === "/token").length, 1)
    })
  )

  it.scoped("asks for a new token when the store takes the old one no longer", () =>
    Effect.gen(function* () {
      const store = yield* makeStore
      yield* store.ask()
      yield* store.control("/failures", { path: "subscriptionsv2", status: 401 })
      strictEqual((yield* Effect.flip(store.ask()))._tag, "CredentialRejected")
      yield* store.ask()
      strictEqual((yield* store.seen).filter((path) => path === "/token").length, 2)
    })
  )

  it.scoped("tells why it got no answer", () =>
    Effect.gen(function* () {
      const store = yield* makeStore
      const limited = { error: { errors: [{ reason: "rateLimitExceeded" }] } }
      const reasons = [
        [{ status: 404 }, "PurchaseUnknown"],
        [{ status: 410 }, "PurchaseUnknown"],
        [{ status: 400 }, "PurchaseUnknown"],
        [{ status: 403 }, "CredentialRejected"],
        [{ status: 403, body: limited }, "StoreLimited"],
        [{ status: 500 }, "StoreDown"],
        [{ status: 200, raw: "<html>" }, "StoreAnswerWrong"],
        [{ kind: "reset" }, "StoreDown"]
      ] as const
      for (const [failure, tag] of reasons) {
        yield* store.control("/failures", { path: "subscriptionsv2", body: {}, ...failure })
        const failed = yield* Effect.flip(store.ask())
        deepStrictEqual([failure, failed._tag], [failure, tag])
        assert.notInclude(Inspectable.toStringUnknown(failed), store.token)
      }
      yield* store.control("/failures", { path: "subscriptionsv2", status: 429, headers: { "retry-after": "7" } })
      const paused = yield* Effect.flip(store.ask())
      deepStrictEqual(paused._tag === "StoreLimited" && Duration.toSeconds(paused.retryAfter), 7)
      const fresh = yield* makeStore
      yield* fresh.control("/failures", { path: "/token", status: 400, body: { error: "invalid_grant" } })
      strictEqual((yield* Effect.flip(fresh.ask()))._tag, "CredentialRejected")
      strictEqual((yield* Effect.flip(fresh.ask("no such token")))._tag, "PurchaseUnknown")
    })
  )

  it.scoped("follows what a purchase replaced back to the first", () =>
    Effect.gen(function* () {
      const store = yield* makeStore
      const upgrade = (token: string) => store.control(`/purchases/${token}/upgrade`, { product_id: "max" })
      const second = yield* upgrade(store.token)
      const third = yield* upgrade(second.body.purchase.token)
      const read = yield* store.ask(third.body.purchase.token)
      strictEqual(read.origin.originalTransactionId, store.order)
      assertSome(read.replaces, second.body.purchase.token)
    })
  )

  it.scoped("believes a void that the store lists, and no other", () =>
    Effect.gen(function* () {
      const store = yield* makeStore
      const since = DateTime.unsafeNow()
      const voidedAt = (orderId: string) =>
        Effect.flatMap(StoreB, (port) => port.voidedAt(app, { purchaseToken: store.token, orderId, since })).pipe(
          Effect.provide(store.driver)
        )
      assertNone(yield* voidedAt(store.order))
      yield* store.control(`/purchases/${store.token}/refund`)
      assert.isTrue(Option.isSome(yield* voidedAt(store.order)))
      assertNone(yield* voidedAt("GPA.other"))
    })
  )

  it.scoped("lets in pushes of the one account for the one audience only", () =>
    Effect.gen(function* () {
      const [ours, theirs] = yield* Effect.promise(() =>
        Promise.all([generateKeyPair("RS256", { extractable: true }), generateKeyPair("RS256")])
      )
      const jwk = yield* Effect.promise(() => exportJWK(ours.publicKey))
      let asked = 0
      const { url } = yield* listen(
        HttpRouter.empty.pipe(
          HttpRouter.get(
            "/keys",
            Effect.sync(() => {
              asked += 1
              return HttpServerResponse.unsafeJson({ keys: [{ ...jwk, kid: "k", alg: "RS256", use: "sig" }] })
            })
          )
        ),
        0
      )
      const driver = yield* Layer.build(
        StoreBDriver.layer({
          apiUrl: Option.none(),
          pushKeysUrl: Option.some(`${url}/keys`),
          pushAudience: () => Option.some(audience),
          pushEmail: Option.some(email)
        }).pipe(Layer.provide(Layer.mock(Credentials, { storeB: () => Effect.succeedNone })))
      )
      const data = Buffer.from(
        JSON.stringify({ packageName, eventTimeMillis: String(Date.now()), testNotification: {} })
      ).toString("base64")
      const pushed = (authorization: Option.Option<string>) =>
        Effect.flatMap(StoreB, (port) => port.push(app, { messageId: "1", data, authorization })).pipe(
          Effect.provide(driver),
          Effect.exit
        )
      const signed = (claims: object = {}, key = ours.privateKey) => {
        const seconds = Math.floor(Date.now() / 1000)
        const all = { iss: "https://accounts.google.com", aud: audience, email, email_verified: true }
        return Effect.promise(() =>
          new SignJWT({ ...all, iat: seconds, exp: seconds + 3600, ...claims })
            .setProtectedHeader({ alg: "RS256", kid: "k" })
            .sign(key)
        )
      }
      const answer = (claims?: object, key: typeof ours.privateKey = ours.privateKey) =>
        Effect.flatMap(signed(claims, key), (token) => pushed(Option.some(`Bearer ${token}`)))

      assert.isTrue(Exit.isSuccess(yield* answer()))
      assert.isTrue(Exit.isSuccess(yield* answer({ iss: "accounts.google.com" })))
      const bad = [
        { aud: "https://elsewhere.example" },
        { iss: "https://evil.example" },
        { email: "other@example.com" },
        { email_verified: false },
        { email: undefined },
        { exp: Math.floor(Date.now() / 1000) - 120 },
        { exp: undefined }
      ]
      for (const claims of bad) {
        assert.isTrue(Exit.isFailure(yield* answer(claims)), JSON.stringify(claims))
      }
      assert.isTrue(Exit.isFailure(yield* answer({}, theirs.privateKey)))
      assert.isTrue(Exit.isFailure(yield* pushed(Option.none())))
      assert.isTrue(Exit.isFailure(yield* pushed(Option.some("Bearer a.b.c"))))
      strictEqual(asked, 1)
    })
  )
})
