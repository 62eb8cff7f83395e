import { layer } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Array, Effect } from "effect"
import { call } from "../support/Api.ts"
import { p256Key } from "../support/StoreKeys.ts"
import { makeTeam, Program } from "../support/Team.ts"

const times = 50
const user = "0d2f7a4e-7c1b-4a9e-8f0a-944455556666"

/** A purchase of which nobody was told yet, with what the store signed about it. */
const silentPurchase = Effect.gen(function* () {
  const { url, world } = yield* Program
  const team = yield* makeTeam
  const { body } = yield* call("POST", `${world.storeA.url}/_control/purchases`, {
    body: { bundle_id: team.bundle, product_id: "pro.monthly", app_account_token: user }
  })
  const kinds = Effect.map(team.ask("GET", "/events?limit=100"), ({ body }) =>
    body.data.map(({ type }: { type: string }) => type).sort()
  )
  const transactions = Effect.map(team.ask("GET", "/transactions"), ({ body }) => body.data.length)
  const at = `${url}/api/v1/stores/store_a/notifications/${team.id}`
  const signedPayload: string = body.notification.signedPayload
  const transactionId: string = body.purchase.transactionId
  return { ...team, world, url, at, signedPayload, transactionId, kinds, transactions }
})

layer(Program.layer, { excludeTestServices: true })(`the same is told ${times} times at once`, (it) => {
  it.effect("by notifications: one is accepted, one transaction and one event stand", () =>
    Effect.gen(function* () {
      const { ask, at, kinds, signedPayload, transactions } = yield* silentPurchase
      const answers = yield* Effect.all(
        Array.makeBy(times, () => call("POST", at, { body: { signedPayload } })),
        { concurrency: times }
      )
      deepStrictEqual(Array.dedupe(answers.map(({ status }) => status)), [200])
      const said = answers.map(({ body }): string => body.data.status).sort()
      deepStrictEqual(said, ["accepted", ...Array.makeBy(times - 1, () => "duplicate")])
      strictEqual(yield* transactions, 1)
      deepStrictEqual(yield* kinds, ["customer.created", "subscription.started"])
      const inbox = yield* ask("GET", "/store-notifications")
      deepStrictEqual(
        inbox.body.data.map(({ state }: { state: string }) => state),
        ["applied"]
      )
    })
  )

  it.effect("by any way into the program: the answers are the same", () =>
    Effect.gen(function* () {
      const { at, signedPayload, url } = yield* silentPurchase
      const unknown = `${url}/api/v1/stores/store_a/notifications/${crypto.randomUUID()}`
      yield* call("POST", at, { body: { signedPayload } })
      const told: ReadonlyArray<readonly [number, string, object]> = [
        [200, at, { signedPayload }],
        [401, at, { signedPayload: `${signedPayload.slice(0, -4)}AAAA` }],
        [404, unknown, { signedPayload }],
        [404, unknown, { signedPayload: "a.b.c" }],
        [422, at, { signedPayload: "" }],
        [422, at, {}]
      ]
      for (const [status, address, body] of told) {
        const [short, long] = [yield* call("POST", address, { body }), yield* call("POST", `${address}?`, { body })]
        deepStrictEqual([short.status, short.body], [status, long.body])
        deepStrictEqual([...short.headers.keys()].sort(), [...long.headers.keys()].sort())
        deepStrictEqual(short.headers.get("content-type"), long.headers.get("content-type"))
      }
      for (const address of [at, `${at}?`]) {
        const broken = yield* Effect.promise(() =>
          fetch(address, { method: "POST", headers: { "content-type": "application/json" }, body: "{" })
        )
        strictEqual(broken.status, 400)
        const plain = yield* Effect.promise(() => fetch(address, { method: "POST", body: signedPayload }))
        strictEqual(plain.status, 415)
      }
    })
  )

  it.effect("by receipts: every phone gets its answer, one transaction and one event stand", () =>
    Effect.gen(function* () {
      const { ask, bundle, key, kinds, transactionId, transactions, url, world } = yield* silentPurchase
      const [issuer, keyId, secret] = ["57246542-96fe-1a63-e053-0824d011072a", "ATONCE0001", p256Key()]
      yield* call("POST", `${world.storeA.url}/_control/keys`, {
        body: { issuer_id: issuer, key_id: keyId, bundle_id: bundle, private_key: secret }
      })
      yield* ask("POST", "/credentials", {
        ...{ platform: "store_a", store_a_issuer_id: issuer, store_a_key_id: keyId, store_a_private_key: secret }
      })
      const answers = yield* Effect.all(
        Array.makeBy(times, () =>
          call("POST", `${url}/api/v1/client/receipts`, {
            token: key,
            body: { store: "store_a", app_user_id: user, transaction_id: transactionId }
          })
        ),
        { concurrency: times }
      )
      deepStrictEqual(Array.dedupe(answers.map(({ status }) => status)), [200])
      deepStrictEqual(Array.dedupe(answers.map(({ body }) => body.subscriber.entitlements.pro.is_active)), [true])
      strictEqual(yield* transactions, 1)
      deepStrictEqual(yield* kinds, ["customer.created", "subscription.started"])
    })
  )
})
