import { layer } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { call } from "../support/Api.ts"
import { p256Key } from "../support/StoreKeys.ts"
import { makeTeam, Program } from "../support/Team.ts"

const issuer = "57246542-96fe-1a63-e053-0824d011072a"
let keys = 0

/** A team whose app has a key that store A knows, and how its phones and the store behave. */
const selling = Effect.gen(function* () {
  const { url, world } = yield* Program
  const team = yield* makeTeam
  const key = p256Key()
  const keyId = `KEY${String(++keys).padStart(7, "0")}`
  const control = (path: string, body: unknown = {}) => call("POST", `${world.storeA.url}/_control${path}`, { body })
  yield* control("/keys", { issuer_id: issuer, key_id: keyId, bundle_id: team.bundle, private_key: key })
  const credential = {
    platform: "store_a",
    store_a_issuer_id: issuer,
    store_a_key_id: keyId,
    store_a_private_key: key
  }
  yield* team.ask("POST", "/credentials", credential)
  /** Silent: the store tells nobody unless an address is given. */
  const buy = (more: object = {}) =>
    Effect.map(
      control("/purchases", { bundle_id: team.bundle, product_id: "pro.monthly", ...more }),
      ({ body }): string => body.purchase.transactionId
    )
  const notify = { notification_url: `${url}/api/v1/stores/store_a/notifications/${team.id}` }
  const show = (transactionId: string, appUserId: string, headers: Record<string, string> = {}) =>
    call("POST", `${url}/api/v1/client/receipts`, {
      token: team.key,
      headers,
      body: { store: "store_a", app_user_id: appUserId, transaction_id: transactionId }
    })
  const events = (type: string) => Effect.map(team.ask("GET", `/events?type=${type}`), ({ body }) => body.data)
  const ledger = Effect.map(team.ask("GET", "/transactions"), ({ body }) => body.data)
  /** A further product that unlocks "pro". */
  const inApp = (identifier: string, type: string) =>
    Effect.gen(function* () {
      yield* team.ask("POST", "/products", { store: "store_a", identifier, name: identifier, type })
      const { body } = yield* team.ask("GET", "/entitlements")
      const product_identifiers = ["pro.monthly", identifier]
      yield* call("PATCH", `${url}/api/v1/entitlements/${body.data[0].uuid}`, {
        token: team.token,
        body: { product_identifiers }
      })
    })
  return { inApp, ...team, url, control, buy, notify, show, events, ledger, keyId }
})

layer(Program.layer, { excludeTestServices: true })("a receipt proves a purchase", (it) => {
  it.effect("and makes the subscriber that it answers", () =>
    Effect.gen(function* () {
      const { buy, ledger, show } = yield* selling
      const answer = yield* show(yield* buy({ price: 4990 }), "ann")
      strictEqual(answer.status, 200)
      const { entitlements, subscriptions } = answer.body.subscriber
      assertTrue(entitlements.pro.is_active)
      strictEqual(entitlements.pro.environment, "production")
      strictEqual(subscriptions["pro.monthly"].price, 4.99)
      deepStrictEqual(
        (yield* ledger).map(({ app_user_id, price }: { app_user_id: string; price: number }) => [app_user_id, price]),
        [["ann", 4.99]]
      )
    })
  )

  it.effect("once, however often and however many at once show it", () =>
    Effect.gen(function* () {
      const { buy, events, ledger, show } = yield* selling
      const id = yield* buy()
      const answers = yield* Effect.all(
        Array.from({ length: 8 }, () => show(id, "ann")),
        { concurrency: 8 }
      )
      deepStrictEqual([...new Set(answers.map(({ status }) => status))], [200])
      strictEqual((yield* show(id, "ann")).status, 200)
      strictEqual((yield* ledger).length, 1)
      strictEqual((yield* events("subscription.started")).length, 1)
    })
  )

  it.effect("by the first transaction too, after it was renewed and canceled", () =>
    Effect.gen(function* () {
      const { buy, control, show } = yield* selling
      const id = yield* buy()
      yield* control(`/purchases/${id}/renew`)
      yield* control(`/purchases/${id}/cancel`)
      const { body } = yield* show(id, "ann")
      const subscription = body.subscriber.subscriptions["pro.monthly"]
      strictEqual(subscription.status, "canceled")
      strictEqual(subscription.original_transaction_id, id)
      assertTrue(subscription.store_transaction_id !== id)
    })
  )

  it.effect("of the sandbox, which is asked when production does not know it", () =>
    Effect.gen(function* () {
      const { ask, buy, show } = yield* selling
      const { body } = yield* show(yield* buy({ environment: "Sandbox" }), "ann")
      strictEqual(body.subscriber.entitlements.pro.environment, "sandbox")
      const stats = yield* ask("GET", "/stats")
      deepStrictEqual(stats.body.data.revenue, {})
    })
  )

  it.effect("whose notification came first, and merges the customer that it made", () =>
    Effect.gen(function* () {
      const { ask, buy, events, notify, show } = yield* selling
      const id = yield* buy(notify)
      const before = yield* ask("GET", "/customers")
      assertTrue(before.body.data[0].is_anonymous)
      const { body } = yield* show(id, "ann")
      assertTrue(body.subscriber.entitlements.pro.is_active)
      const after = yield* ask("GET", "/customers")
      deepStrictEqual(
        after.body.data.map(({ app_user_id }: { app_user_id: string }) => app_user_id),
        ["ann"]
      )
      strictEqual((yield* events("subscription.started")).length, 1)
      strictEqual((yield* events("customer.identified")).length, 1)
      strictEqual((yield* events("customer.transferred")).length, 0)
    })
  )

  it.effect("of a thing that is bought once, which its notification tells too", () =>
    Effect.gen(function* () {
      const { buy, control, events, inApp, ledger, notify, read, show } = yield* selling
      yield* inApp("pro.forever", "non_consumable")
      const id = yield* buy({ ...notify, type: "Non-Consumable", product_id: "pro.forever" })
      const { body } = yield* show(id, "ann")
      strictEqual(body.subscriber.entitlements.pro.source, "purchase")
      assertTrue(body.subscriber.entitlements.pro.is_active)
      deepStrictEqual(body.subscriber.subscriptions, {})
      strictEqual((yield* ledger).length, 1)
      strictEqual((yield* events("purchase.completed")).length, 1)
      strictEqual((yield* show(id, "ben")).status, 200)
      strictEqual((yield* events("customer.transferred")).length, 1)
      deepStrictEqual((yield* read("ann")).entitlements, {})
      yield* control(`/purchases/${id}/refund`)
      assertTrue(!(yield* read("ben")).entitlements.pro.is_active)
      yield* show(id, "ben")
      strictEqual((yield* events("purchase.refunded")).length, 1)
    })
  )

  it.effect("and moves to the customer who proves it now", () =>
    Effect.gen(function* () {
      const { ask, buy, events, ledger, read, show } = yield* selling
      const id = yield* buy()
      yield* show(id, "ann")
      const answer = yield* show(id, "ben")
      strictEqual(answer.status, 200)
      assertTrue(answer.body.subscriber.entitlements.pro.is_active)
      deepStrictEqual((yield* read("ann")).subscriptions, {})
      deepStrictEqual(
        (yield* ledger).map(({ app_user_id }: { app_user_id: string }) => app_user_id),
        ["ben"]
      )
      const uuids = yield* Effect.map(ask("GET", "/customers"), ({ body }) => body.data)
      const uuidOf = (name: string) => uuids.find((one: { app_user_id: string }) => one.app_user_id === name).uuid
      const [told, ...more] = yield* events("customer.transferred")
      strictEqual(more.length, 0)
      strictEqual(told.data.from_customer_uuid, uuidOf("ann"))
      strictEqual(told.data.to_customer_uuid, uuidOf("ben"))
      yield* show(id, "ben")
      strictEqual((yield* events("customer.transferred")).length, 1)
    })
  )

  it.effect("which a family shares: it is the payer's and the member's, until the payer has the money back", () =>
    Effect.gen(function* () {
      const { ask, buy, control, events, ledger, notify, read, show } = yield* selling
      const paid = yield* buy({ ...notify, price: 4990 })
      yield* show(paid, "ann")
      const shareWith = (name: string) =>
        Effect.gen(function* () {
          const { body } = yield* control(`/purchases/${paid}/share`)
          const { transactionId } = body.purchase
          strictEqual((yield* show(transactionId, name)).status, 200)
          return transactionId
        })
      yield* shareWith("ben")
      const carols = yield* shareWith("carol")
      const holders = ["ann", "ben", "carol"]
      const stands = Effect.forEach(holders, (name) =>
        Effect.map(read(name), ({ entitlements, subscriptions }) => [
          entitlements.pro.is_active,
          subscriptions["pro.monthly"].ownership_type
        ])
      )
      deepStrictEqual(yield* stands, [
        [true, "purchased"],
        [true, "family_shared"],
        [true, "family_shared"]
      ])
      deepStrictEqual((yield* ask("GET", "/stats")).body.data.revenue, { USD: 4.99 })
      strictEqual((yield* events("customer.transferred")).length, 0)

      yield* control(`/purchases/${carols}/revoke`)
      deepStrictEqual(
        (yield* stands).map(([isActive]) => isActive),
        [true, true, false]
      )
      yield* control(`/purchases/${paid}/refund`)
      deepStrictEqual(
        (yield* stands).map(([isActive]) => isActive),
        [false, false, false]
      )
      strictEqual((yield* events("subscription.refunded")).length, 1)
      strictEqual((yield* ledger).length, 3)
    })
  )

  it.effect("and stays where it is when the app keeps purchases", () =>
    Effect.gen(function* () {
      const { ask, buy, read, show } = yield* selling
      const kept = yield* ask("PATCH", "", { transfer_behavior: "keep" })
      strictEqual(kept.body.data.transfer_behavior, "keep")
      const id = yield* buy()
      yield* show(id, "ann")
      strictEqual((yield* show(id, "ben")).status, 409)
      assertTrue((yield* read("ann")).entitlements.pro.is_active)
      strictEqual((yield* show(id, "ann")).status, 200)
    })
  )

  it.effect("only when nothing is missing, and every missing field is named", () =>
    Effect.gen(function* () {
      const { key, url } = yield* selling
      const post = (body: unknown) => call("POST", `${url}/api/v1/client/receipts`, { token: key, body })
      const fieldsOf = (body: unknown) =>
        Effect.map(post(body), ({ body, status }) => [status, Object.keys(body.errors).toSorted()])
      deepStrictEqual(yield* fieldsOf({ store: "store_a" }), [422, ["app_user_id", "transaction_id"]])
      deepStrictEqual(yield* fieldsOf({ store: "store_b", app_user_id: "ann" }), [
        422,
        ["product_id", "purchase_token"]
      ])
      deepStrictEqual(yield* fieldsOf({ store: "store_c", app_user_id: "ann" }), [422, ["store"]])
      deepStrictEqual(yield* fieldsOf({}), [422, ["store"]])
      const storeB = { store: "store_b", app_user_id: "ann", product_id: "pro", purchase_token: "t" }
      strictEqual((yield* post(storeB)).status, 409)
    })
  )

  it.effect("of this app alone", () =>
    Effect.gen(function* () {
      const { buy, ledger, show } = yield* selling
      const foreign = yield* show(yield* buy({ bundle_id: "com.example.other" }), "ann")
      deepStrictEqual([foreign.status, Object.keys(foreign.body.errors)], [422, ["transaction_id"]])
      strictEqual((yield* show("no such / thing?", "ann")).status, 422)
      strictEqual((yield* ledger).length, 0)
    })
  )

  it.effect("not while the app has no credential", () =>
    Effect.gen(function* () {
      const { ask, buy, show } = yield* selling
      const { body } = yield* ask("GET", "/credentials")
      yield* ask("DELETE", `/credentials/${body.data[0].uuid}`)
      strictEqual((yield* show(yield* buy(), "ann")).status, 409)
    })
  )

  it.effect(
    "not while the store is in the way, and then nothing is stored",
    () =>
      Effect.gen(function* () {
        const { buy, control, ledger, show } = yield* selling
        const id = yield* buy()
        const path = `/transactions/${id}`
        const failures = [
          { status: 500 },
          { status: 401, body: "" },
          { status: 200, body: { signedTransactionInfo: "a.b.c" } },
          { status: 404, body: { errorCode: 4040002, errorMessage: "Account not found. Please try again." } }
        ]
        for (const failure of failures) {
          yield* control("/failures", { path, ...failure })
          const answer = yield* show(id, "ann")
          strictEqual(answer.status, 503)
          strictEqual(answer.headers.get("retry-after"), "30")
        }
        const until = String(Date.now() + 120_000)
        yield* control("/failures", {
          path,
          status: 429,
          body: { errorCode: 4290000 },
          headers: { "retry-after": until }
        })
        const limited = yield* show(id, "ann")
        strictEqual(limited.status, 503)
        const seconds = Number(limited.headers.get("retry-after"))
        assertTrue(seconds > 60 && seconds <= 120)
        yield* control("/failures", { path, kind: "hang" })
        strictEqual((yield* show(id, "ann")).status, 503)
        strictEqual((yield* ledger).length, 0)
        strictEqual((yield* show(id, "ann")).status, 200)
      }),
    240_000
  )

  it.effect("and the store says of a credential whether it accepts it", () =>
    Effect.gen(function* () {
      const { ask, buy, control, keyId, notify } = yield* selling
      const { world } = yield* Program
      const verify = (query = "") => ask("POST", `/credentials/store_a/verify${query}`)
      const silent = yield* verify()
      strictEqual(silent.status, 200)
      assertTrue(silent.body.data.accepted && silent.body.data.answer.includes("knows no address"))
      yield* buy(notify)
      const asked = yield* verify("?environment=sandbox")
      assertTrue(asked.body.data.accepted && asked.body.data.answer.includes("test notification"))
      const inbox = yield* ask("GET", "/store-notifications")
      strictEqual(inbox.body.data[0].type, "TEST")
      yield* control("/failures", { path: "/notifications/test", status: 503 })
      strictEqual((yield* verify()).status, 503)
      yield* call("DELETE", `${world.storeA.url}/_control/keys/${keyId}`)
      const refused = yield* verify()
      deepStrictEqual([refused.status, refused.body.data.accepted], [200, false])
      strictEqual((yield* ask("POST", "/credentials/store_b/verify")).status, 409)
    })
  )
})
