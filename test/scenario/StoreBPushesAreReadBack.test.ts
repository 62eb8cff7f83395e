import { assert, layer } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { call } from "../support/Api.ts"
import { answered, makeTeam, packageName, World } from "../support/StoreBWorld.ts"

layer(World.layer, { excludeTestServices: true })("store B pushes are read back", (it) => {
  it.effect("through the life of a subscription: bought, paused, held, recovered, upgraded, refunded", () =>
    Effect.gen(function* () {
      const team = yield* makeTeam
      yield* team.giveCredential
      const bought = yield* team.buy()
      deepStrictEqual({ ...answered(bought), data: answered(bought).data.status }, { status: 200, data: "accepted" })
      const first = yield* team.subscriber
      assertTrue(first.entitlements.pro.is_active)
      strictEqual(first.subscriptions["pro:monthly"].price, 9.99)
      const token: string = bought.body.purchase.token
      assertTrue((yield* team.purchases).find((one: any) => one.token === token).isAcknowledged)

      const statusAfter = (move: string, product = "pro:monthly") =>
        Effect.gen(function* () {
          const moved = yield* team.control(`/purchases/${token}/${move}`)
          strictEqual(answered(moved).status, 200)
          const { subscriptions } = yield* team.subscriber
          return [subscriptions[product].status, subscriptions[product].is_active]
        })
      deepStrictEqual(yield* statusAfter("plan-pause"), ["paused_pending", true])
      deepStrictEqual(yield* statusAfter("pause"), ["paused", false])
      deepStrictEqual(yield* statusAfter("resume"), ["active", true])
      deepStrictEqual(yield* statusAfter("grace"), ["in_grace_period", true])
      deepStrictEqual(yield* statusAfter("hold"), ["on_hold", false])
      deepStrictEqual(yield* statusAfter("recover"), ["active", true])
      deepStrictEqual(yield* statusAfter("cancel"), ["canceled", true])
      deepStrictEqual(yield* statusAfter("restart"), ["active", true])

      const upgraded = yield* team.control(`/purchases/${token}/upgrade`, {
        product_id: "max",
        base_plan_id: "monthly"
      })
      strictEqual(answered(upgraded).data.status, "accepted")
      const late = yield* team.control(`/purchases/${token}/expire`)
      strictEqual(answered(late).data.status, "accepted")
      const held = yield* team.api("GET", `/apps/${team.app}/subscriptions`)
      strictEqual(held.body.data.length, 1)
      strictEqual(held.body.data[0].product_identifier, "max:monthly")
      strictEqual(held.body.data[0].status, "active")
      strictEqual(held.body.data[0].original_transaction_id, bought.body.purchase.order)

      yield* team.control(`/purchases/${upgraded.body.purchase.token}/refund`)
      yield* team.control(`/purchases/${upgraded.body.purchase.token}/expire`)
      const after = (yield* team.subscriber).subscriptions["max:monthly"]
      deepStrictEqual([after.status, after.is_active], ["revoked", false])
      assert.isNotNull(after.refunded_at)
      deepStrictEqual(yield* team.types, [
        "customer.created",
        "subscription.started",
        "subscription.pause_scheduled",
        "subscription.paused",
        "subscription.renewed",
        "subscription.resumed",
        "subscription.grace_period_started",
        "subscription.billing_issue",
        "subscription.on_hold",
        "subscription.renewed",
        "subscription.recovered",
        "subscription.canceled",
        "subscription.uncanceled",
        "subscription.product_changed",
        "subscription.refunded"
      ])
    })
  )

  it.effect("what changes later is shown as pending, and told when it comes", () =>
    Effect.gen(function* () {
      const team = yield* makeTeam
      yield* team.giveCredential
      const bought = yield* team.buy()
      const later = { product_id: "max", base_plan_id: "monthly", mode: "deferred" }
      const replaced = yield* team.control(`/purchases/${bought.body.purchase.token}/change-plan`, later)
      const next = `/purchases/${replaced.body.purchase.token}`
      const before = (yield* team.subscriber).subscriptions["pro:monthly"]
      deepStrictEqual([before.status, before.will_renew, before.pending_product_identifier], ["active", true, "max"])
      yield* team.control(`${next}/renew`)
      const after = (yield* team.subscriber).subscriptions["max:monthly"]
      deepStrictEqual([after.status, after.pending_product_identifier], ["active", null])

      yield* team.control(`${next}/change-price`, { price: 12.99 })
      yield* team.control(`${next}/confirm-price`)
      strictEqual((yield* team.subscriber).subscriptions["max:monthly"].price, after.price)
      yield* team.control(`${next}/renew`)
      strictEqual((yield* team.subscriber).subscriptions["max:monthly"].price, 12.99)
      yield* team.control(`${next}/change-price`, { price: 19.99 })
      yield* team.control(`${next}/cancel`, { by: "system" })
      yield* team.control(`${next}/expire`)
      strictEqual((yield* team.subscriber).subscriptions["max:monthly"].status, "expired")
      deepStrictEqual(yield* team.types, [
        "customer.created",
        "subscription.started",
        "subscription.product_changed",
        "subscription.price_change",
        "subscription.price_change",
        "subscription.renewed",
        "subscription.price_change",
        "subscription.canceled",
        "subscription.expired"
      ])
    })
  )

  it.effect("a part of a quantity that goes back takes nothing away, all of it does", () =>
    Effect.gen(function* () {
      const team = yield* makeTeam
      yield* team.giveCredential
      const coins = { store: "store_b", identifier: "coins", name: "Coins", type: "non_consumable" }
      strictEqual((yield* team.api("POST", `/apps/${team.app}/products`, coins)).status, 201)
      const bought = yield* team.buy({ one_time: true, product_id: "coins", base_plan_id: undefined, quantity: 3 })
      const { token } = bought.body.purchase
      const refundedAfter = (quantity: number) =>
        Effect.gen(function* () {
          const { data, status } = answered(yield* team.control(`/purchases/${token}/refund`, { quantity }))
          deepStrictEqual([status, data.status], [200, "accepted"])
          return (yield* team.subscriber).non_subscriptions.coins[0].refunded_at
        })
      assert.isNull(yield* refundedAfter(1))
      assert.isNotNull(yield* refundedAfter(2))
      deepStrictEqual(yield* team.types, ["customer.created", "purchase.completed", "purchase.refunded"])
    })
  )

  it.effect("a repeat is a duplicate, what changes nothing is ignored and kept", () =>
    Effect.gen(function* () {
      const team = yield* makeTeam
      yield* team.giveCredential
      const bought = yield* team.buy({ test: true })
      const repeated = yield* team.control(`/notifications/${bought.body.push.messageId}/resend`)
      deepStrictEqual(answered(repeated).data, { status: "duplicate", uuid: answered(bought).data.uuid })
      const place = { notification_url: team.endpoint }
      const tried = yield* team.control("/test-notification", { package_name: packageName, ...place })
      strictEqual(answered(tried).data.status, "ignored")
      const foreign = yield* team.buy({ package_name: "com.example.other" })
      strictEqual(answered(foreign).data.status, "ignored")
      const pending = yield* team.buy({ pending: true })
      strictEqual(answered(pending).data.status, "accepted")
      const rows = yield* team.inbox
      deepStrictEqual(
        rows.map(({ reason, state, type }: any) => [type, state, reason]),
        [
          ["SUBSCRIPTION_PURCHASED", "ignored", "nothing was paid yet"],
          ["SUBSCRIPTION_PURCHASED", "ignored", "is of another package"],
          ["TEST", "ignored", "changes no purchase"],
          ["SUBSCRIPTION_PURCHASED", "applied", null]
        ]
      )
      const ledger = yield* team.api("GET", `/apps/${team.app}/transactions`)
      deepStrictEqual(
        ledger.body.data.map(({ environment }: any) => environment),
        ["sandbox"]
      )
    })
  )

  it.effect("many notifications of one purchase at once end in one subscription and one event each", () =>
    Effect.gen(function* () {
      const team = yield* makeTeam
      yield* team.giveCredential
      const bought = yield* team.buy()
      const { token } = bought.body.purchase
      const again = () => team.control(`/notifications/${bought.body.push.messageId}/resend`)
      yield* Effect.all(
        ["cancel", "restart", "cancel"].map((move) => team.control(`/purchases/${token}/${move}`)),
        { concurrency: 3 }
      )
      yield* Effect.all([again(), again()], { concurrency: 2 })
      const store = (yield* team.purchases).find((one: any) => one.token === token)
      const { subscriptions } = yield* team.subscriber
      strictEqual(subscriptions["pro:monthly"].status, store.state.toLowerCase())
      const ledger = yield* team.api("GET", `/apps/${team.app}/transactions`)
      strictEqual(ledger.body.data.length, 1)
    })
  )

  it.effect("without a credential, or while the store is down, a push waits, and a repeat applies it", () =>
    Effect.gen(function* () {
      const team = yield* makeTeam
      const refusedYet = yield* team.buy()
      strictEqual(answered(refusedYet).status, 401)
      yield* team.giveCredential
      const { store } = yield* World
      const fail = (path: string, status: number) =>
        call("POST", `${store.url}/_control/failures`, { body: { path, status, body: {} } })
      yield* fail("subscriptionsv2", 503)
      const waiting = yield* team.buy()
      strictEqual(answered(waiting).data.status, "accepted")
      strictEqual((yield* team.inbox)[0].state, "pending")
      yield* fail(":acknowledge", 503)
      const repeated = yield* team.control(`/notifications/${waiting.body.push.messageId}/resend`)
      strictEqual(answered(repeated).data.status, "duplicate")
      strictEqual((yield* team.inbox)[0].state, "applied")
      assertTrue((yield* team.subscriber).entitlements.pro.is_active)
      const acknowledged = Effect.map(
        team.purchases,
        (all) => all.find((one: any) => one.token === waiting.body.purchase.token).isAcknowledged
      )
      assert.isFalse(yield* acknowledged)
      yield* team.control(`/purchases/${waiting.body.purchase.token}/cancel`)
      assertTrue(yield* acknowledged)
    })
  )

  it.effect("strangers and nonsense are turned away", () =>
    Effect.gen(function* () {
      const team = yield* makeTeam
      yield* team.giveCredential
      const bought = yield* team.buy({ push_audience: "https://elsewhere.example" })
      strictEqual(answered(bought).status, 401)
      const { body } = bought.body.push
      strictEqual((yield* call("POST", team.endpoint, { body })).status, 401)
      strictEqual((yield* call("POST", team.endpoint, { body, token: "a.b.c" })).status, 401)
      const bad = yield* call("POST", team.endpoint, { body: { message: { data: 7 } } })
      strictEqual(bad.status, 422)
      deepStrictEqual(Object.keys(bad.body.errors).toSorted(), ["message.data", "message.messageId"])
      const nowhere = team.endpoint.replace(team.app, "0d2f7a4e-7c1b-4a9e-8f0a-944455556666")
      strictEqual((yield* call("POST", nowhere, { body })).status, 404)
      deepStrictEqual(yield* team.inbox, [])
    })
  )
})
