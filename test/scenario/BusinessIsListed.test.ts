import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { call } from "../support/Api.ts"
import { eventually } from "../support/Story.ts"
import { makeTeam, Program } from "../support/Team.ts"

/** A yearly of ann's that was canceled and refunded, a sandbox monthly of ben's. */
const makeBusiness = Effect.gen(function* () {
  const { world } = yield* Program
  const team = yield* makeTeam
  const monthly = yield* team.buy("ann")
  const yearly = yield* team.buy("ann", { product_id: "pro.yearly" })
  yield* team.buy("ben", { environment: "Sandbox" })
  const act = (bought: { readonly body: any }, what: string) =>
    call("POST", `${world.storeA.url}/_control/purchases/${bought.body.purchase.originalTransactionId}/${what}`, {
      body: {}
    })
  yield* act(yearly, "refund")
  yield* act(monthly, "renew")
  return team
})

layer(Program.layer, { excludeTestServices: true })("an app's business is listed", (it) => {
  it.effect("subscriptions in full, by status, store, product, environment and person", () =>
    Effect.gen(function* () {
      const team = yield* makeBusiness
      const listed = yield* team.ask("GET", "/subscriptions")
      const products = (query: string) =>
        Effect.map(team.ask("GET", `/subscriptions?${query}`), ({ body }): Array<string> =>
          body.data.map((item: any) => `${item.app_user_id} ${item.product_identifier} ${item.status}`)
        )
      const anns = "ann pro.monthly active"
      const refunded = "ann pro.yearly revoked"
      const bens = "ben pro.monthly active"
      deepStrictEqual(yield* products(""), [bens, refunded, anns])
      deepStrictEqual(yield* products("status=revoked"), [refunded])
      deepStrictEqual(yield* products("store=store_a&environment=sandbox"), [bens])
      deepStrictEqual(yield* products("store=store_b"), [])
      deepStrictEqual(yield* products("product_identifier=pro.monthly"), [bens, anns])
      deepStrictEqual(yield* products("app_user_id=ann"), [refunded, anns])
      deepStrictEqual(yield* products("app_user_id=nobody"), [])
      deepStrictEqual(yield* products("app_user_id=ann&product_identifier=pro.monthly&status=active"), [anns])
      const first = yield* team.ask("GET", "/subscriptions?environment=production&limit=1")
      deepStrictEqual(yield* products(`environment=production&limit=1&cursor=${first.body.next_cursor}`), [anns])
      const shown = (yield* team.read("ann")).subscriptions["pro.monthly"]
      deepStrictEqual(listed.body.data[2], {
        ...shown,
        product_identifier: "pro.monthly",
        app_user_id: "ann"
      })
      const unspeakable = yield* team.ask("GET", "/subscriptions?app_user_id=%00&product_identifier=%00")
      deepStrictEqual(Object.keys(unspeakable.body.errors).sort(), ["app_user_id", "product_identifier"])
      const wrong = yield* team.ask("GET", "/subscriptions?status=gone&store=x&environment=y")
      deepStrictEqual([wrong.status, Object.keys(wrong.body.errors).sort()], [422, ["environment", "status", "store"]])
    })
  )

  it.effect("transactions in full, by store, product, environment, person and purchase date", () =>
    Effect.gen(function* () {
      const team = yield* makeBusiness
      const lines = (query: string) =>
        Effect.map(team.ask("GET", `/transactions?limit=100&${query}`), ({ body }): Array<string> =>
          body.data.map((item: any) => `${item.app_user_id} ${item.product_identifier} ${item.environment}`)
        )
      const { body } = yield* team.ask("GET", "/transactions")
      assert.strictEqual(body.data.length, 4)
      const [renewal, bens, yearly, started] = body.data
      deepStrictEqual(Object.keys(renewal).sort(), [
        "app_user_id",
        "currency",
        "environment",
        "expires_date",
        "original_transaction_id",
        "ownership_type",
        "period_type",
        "price",
        "product_identifier",
        "purchase_date",
        "refunded_amount",
        "refunded_at",
        "store",
        "store_transaction_id",
        "subscription_uuid",
        "uuid"
      ])
      assert.deepInclude(renewal, { price: 9.99, currency: "USD", refunded_at: null, ownership_type: "purchased" })
      assert.strictEqual(renewal.original_transaction_id, started.store_transaction_id)
      assert.isString(yearly.refunded_at)
      assert.isNotNull(yearly.price)
      assert.strictEqual(yearly.refunded_amount, yearly.price)
      deepStrictEqual(yield* lines("environment=sandbox"), ["ben pro.monthly sandbox"])
      deepStrictEqual(yield* lines("product_identifier=pro.yearly"), ["ann pro.yearly production"])
      assert.strictEqual((yield* lines("app_user_id=ann")).length, 3)
      assert.strictEqual((yield* lines("store=store_a")).length, 4)
      assert.strictEqual((yield* lines("store=custom")).length, 0)
      assert.strictEqual((yield* lines(`from=${renewal.purchase_date}`)).length, 1)
      assert.strictEqual((yield* lines(`to=${renewal.purchase_date}`)).length, 3)
      assert.strictEqual((yield* lines(`from=${bens.purchase_date}&to=${renewal.purchase_date}`)).length >= 1, true)
      const wrong = yield* team.ask("GET", "/transactions?from=yesterday&to=x")
      deepStrictEqual([wrong.status, Object.keys(wrong.body.errors).sort()], [422, ["from", "to"]])
    })
  )

  it.effect("events by type, person and time", () =>
    Effect.gen(function* () {
      const team = yield* makeBusiness
      const types = (query: string) =>
        Effect.map(team.ask("GET", `/events?limit=100&${query}`), ({ body }): Array<string> =>
          body.data.map(({ type }: { type: string }) => type)
        )
      const all = yield* types("")
      assert.strictEqual(all.length, 7)
      deepStrictEqual(yield* types("type=subscription.renewed"), ["subscription.renewed"])
      deepStrictEqual(yield* types("app_user_id=ben"), ["subscription.started", "customer.created"])
      const [renewed] = yield* team.told("subscription.renewed")
      deepStrictEqual(yield* types(`from=${renewed.created_at}`), ["subscription.renewed"])
      deepStrictEqual(yield* types(`to=${renewed.created_at}`), all.slice(1))
      assert.strictEqual((yield* team.ask("GET", "/events?type=unheard.of")).status, 422)
      assert.strictEqual((yield* team.ask("GET", "/events?cursor=x")).status, 400)
      assert.strictEqual((yield* team.ask("GET", "/events?app_user_id=%00")).status, 422)
    })
  )

  it.effect("one person's purchases, events and deliveries in one timeline, page by page", () =>
    Effect.gen(function* () {
      const team = yield* makeBusiness
      const path = `${team.customer("ann")}/history`
      const whole = yield* eventually(
        Effect.map(team.ask("GET", `${path}?limit=100`), ({ body }) => {
          const deliveries = body.data.filter(({ kind }: any) => kind === "delivery")
          const isDone = deliveries.every(({ delivery }: any) => delivery.state === "succeeded")
          return deliveries.length === 5 && isDone ? (body.data as Array<any>) : undefined
        }),
        "five deliveries"
      )
      const count = (kind: string) => whole.filter((entry) => entry.kind === kind).length
      deepStrictEqual([count("purchase"), count("event"), count("delivery")], [3, 5, 5])
      const ids = whole.map(({ uuid }) => uuid)
      deepStrictEqual(ids, ids.toSorted().toReversed())
      const times = whole.map(({ created_at }) => Date.parse(created_at))
      const backwards = times.filter((time, index) => time > (times[index - 1] ?? time) + 1_000)
      deepStrictEqual(backwards, [])
      const transactions = yield* team.ask("GET", "/transactions?app_user_id=ann")
      deepStrictEqual(
        whole.filter(({ kind }) => kind === "purchase").map(({ transaction }) => transaction),
        transactions.body.data
      )
      const events = yield* team.ask("GET", "/events?app_user_id=ann")
      deepStrictEqual(
        whole.filter(({ kind }) => kind === "event").map(({ event }) => event),
        events.body.data
      )
      for (const entry of whole)
        assert.strictEqual(
          entry.uuid,
          entry[entry.kind === "purchase" ? "transaction" : entry.kind].uuid ?? entry.delivery.id
        )
      const paged: Array<any> = []
      for (let cursor = ""; ;) {
        const { body } = yield* team.ask("GET", `${path}?limit=4${cursor}`)
        paged.push(...body.data)
        if (body.next_cursor === null) break
        cursor = `&cursor=${body.next_cursor}`
      }
      deepStrictEqual(paged, whole)
      assert.strictEqual((yield* team.ask("GET", `${team.customer("nobody")}/history`)).status, 404)
      assert.strictEqual((yield* team.ask("GET", `${path}?cursor=x`)).status, 400)
    })
  )
})
