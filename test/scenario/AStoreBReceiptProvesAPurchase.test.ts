import { assert, layer } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { call } from "../support/Api.ts"
import { makeTeam, World } from "../support/StoreBWorld.ts"
import { until } from "../support/Until.ts"

/** A purchase that the store tells nobody of. */
const silently = { notification_url: undefined, obfuscated_account_id: undefined }

const selling = Effect.gen(function* () {
  const team = yield* makeTeam
  yield* team.giveCredential
  const buy = (more: object = {}) =>
    Effect.map(team.buy({ ...silently, ...more }), ({ body }): string => body.purchase.token)
  const ledger = Effect.map(team.api("GET", `/apps/${team.app}/transactions`), ({ body }) => body.data)
  const purchaseOf = (token: string) =>
    Effect.map(team.purchases, (all) => all.find((one: { readonly token: string }) => one.token === token))
  const { store } = yield* World
  const fail = (failure: object) => call("POST", `${store.url}/_control/failures`, { body: failure })
  return { ...team, buy, ledger, purchaseOf, fail }
})

layer(World.layer, { excludeTestServices: true })("a receipt of store B", (it) => {
  it.effect("makes the subscriber that it answers, and the store is told that it was given", () =>
    Effect.gen(function* () {
      const { buy, ledger, purchaseOf, show } = yield* selling
      const token = yield* buy()
      const { body, status } = yield* show(token, "ann")
      strictEqual(status, 200)
      assertTrue(body.subscriber.entitlements.pro.is_active)
      strictEqual(body.subscriber.subscriptions["pro:monthly"].price, 9.99)
      strictEqual((yield* ledger).length, 1)
      yield* until(purchaseOf(token), ({ isAcknowledged }) => isAcknowledged === true)
    })
  )

  it.effect("makes one transaction and one event, however many at once show it and push it", () =>
    Effect.gen(function* () {
      const { buy, ledger, show, types } = yield* selling
      const token = yield* buy()
      const answers = yield* Effect.all(
        Array.from({ length: 20 }, () => show(token, "ann")),
        { concurrency: 20 }
      )
      deepStrictEqual([...new Set(answers.map(({ status }) => status))], [200])
      strictEqual((yield* show(token, "ann")).status, 200)
      strictEqual((yield* ledger).length, 1)
      deepStrictEqual(yield* types, ["customer.created", "subscription.started"])
    })
  )

  it.effect("merges the anonymous customer whom a push made before, and moves to whoever proves it now", () =>
    Effect.gen(function* () {
      const { api, app, buy, endpoint, show, types } = yield* selling
      const token = yield* buy({ notification_url: endpoint })
      const before = yield* api("GET", `/apps/${app}/customers`)
      assertTrue(before.body.data[0].is_anonymous)
      assertTrue((yield* show(token, "ann")).body.subscriber.entitlements.pro.is_active)
      const after = yield* api("GET", `/apps/${app}/customers`)
      deepStrictEqual(
        after.body.data.map(({ app_user_id }: { readonly app_user_id: string }) => app_user_id),
        ["ann"]
      )
      assertTrue((yield* show(token, "ben")).body.subscriber.entitlements.pro.is_active)
      deepStrictEqual((yield* types).filter((type) => type.startsWith("customer.")).toSorted(), [
        "customer.created",
        "customer.created",
        "customer.created",
        "customer.identified",
        "customer.transferred"
      ])
      yield* api("PATCH", `/apps/${app}`, { transfer_behavior: "keep" })
      strictEqual((yield* show(token, "cid")).status, 409)
    })
  )

  it.effect("of a thing that is bought once is found without being told what it is", () =>
    Effect.gen(function* () {
      const { api, app, buy, ledger, show, types } = yield* selling
      const coins = { store: "store_b", identifier: "coins", name: "Coins", type: "non_consumable" }
      strictEqual((yield* api("POST", `/apps/${app}/products`, coins)).status, 201)
      const token = yield* buy({ one_time: true, product_id: "coins", base_plan_id: undefined })
      const { body, status } = yield* show(token, "ann", "coins")
      strictEqual(status, 200)
      deepStrictEqual(body.subscriber.subscriptions, {})
      strictEqual(Object.keys(body.subscriber.non_subscriptions).length, 1)
      yield* show(token, "ann", "coins")
      strictEqual((yield* ledger).length, 1)
      deepStrictEqual(yield* types, ["customer.created", "purchase.completed"])
    })
  )

  it.effect("is refused by the field that is wrong", () =>
    Effect.gen(function* () {
      const { buy, ledger, show } = yield* selling
      const token = yield* buy()
      const another = yield* show(token, "ann", "max")
      deepStrictEqual([another.status, Object.keys(another.body.errors)], [422, ["product_id"]])
      const unknown = yield* show("no such token", "ann")
      deepStrictEqual([unknown.status, Object.keys(unknown.body.errors)], [422, ["purchase_token"]])
      strictEqual((yield* ledger).length, 0)
    })
  )

  it.effect("changes nothing while the purchase is not paid", () =>
    Effect.gen(function* () {
      const { buy, ledger, show } = yield* selling
      const token = yield* buy({ pending: true })
      const { body, status } = yield* show(token, "ann")
      deepStrictEqual([status, body.subscriber.subscriptions], [200, {}])
      strictEqual((yield* ledger).length, 0)
    })
  )

  it.effect("is not stored while the store is in the way", () =>
    Effect.gen(function* () {
      const { buy, fail, ledger, purchaseOf, show } = yield* selling
      const token = yield* buy()
      const path = "subscriptionsv2"
      for (const failure of [{ status: 500 }, { status: 401 }, { status: 200, raw: "<html>" }, { kind: "reset" }]) {
        yield* fail({ path, body: {}, ...failure })
        const answer = yield* show(token, "ann")
        deepStrictEqual([failure, answer.status, answer.headers.get("retry-after")], [failure, 503, "30"])
      }
      yield* fail({ path, status: 429, body: {}, headers: { "retry-after": "7" } })
      strictEqual((yield* show(token, "ann")).headers.get("retry-after"), "7")
      strictEqual((yield* ledger).length, 0)
      yield* fail({ path: ":acknowledge", status: 503, body: {} })
      strictEqual((yield* show(token, "ann")).status, 200)
      assert.isFalse((yield* purchaseOf(token)).isAcknowledged)
    })
  )

  it.effect("needs a credential, which the store can be asked about", () =>
    Effect.gen(function* () {
      const team = yield* makeTeam
      const bought = yield* team.buy(silently)
      strictEqual((yield* team.show(bought.body.purchase.token, "ann")).status, 409)
      const verify = team.api("POST", `/apps/${team.app}/credentials/store_b/verify`)
      strictEqual((yield* verify).status, 409)
      yield* team.giveCredential
      const said = yield* verify
      deepStrictEqual([said.status, said.body.data.accepted], [200, true])
      const { store } = yield* World
      const failure = { path: "voidedpurchases", status: 403, body: {} }
      yield* call("POST", `${store.url}/_control/failures`, { body: failure })
      const refused = yield* verify
      deepStrictEqual([refused.status, refused.body.data.accepted], [200, false])
    })
  )
})
