import { describe, it, layer } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { call } from "../support/Api.ts"
import * as Gatehouse from "../support/Gatehouse.ts"
import { hurry } from "../support/Hurry.ts"
import { answered, makeTeam, World } from "../support/StoreBWorld.ts"
import { buy, giveCredential, makeApp, makeWorld } from "../support/Story.ts"
import { until } from "../support/Until.ts"

layer(World.layer, { excludeTestServices: true })("an app of store B, left alone", (it) => {
  it.effect("applies what waited for the store, without a repeat", () =>
    Effect.gen(function* () {
      const team = yield* makeTeam
      yield* team.giveCredential
      const { databaseUrl, store } = yield* World
      const failure = { path: "subscriptionsv2", status: 503, body: {} }
      yield* call("POST", `${store.url}/_control/failures`, { body: failure })
      yield* call("POST", `${store.url}/_control/failures`, { body: { path: ":acknowledge", status: 503, body: {} } })
      const bought = yield* team.buy()
      strictEqual(answered(bought).data.status, "accepted")
      const [waiting] = yield* team.inbox
      deepStrictEqual(
        [waiting.state, waiting.reason],
        ["pending", "the store does not answer: the store does not answer as it should (503)"]
      )
      yield* hurry(databaseUrl)
      yield* until(team.inbox, ([row]) => row.state === "applied")
      assertTrue((yield* team.subscriber).entitlements.pro.is_active)
      yield* hurry(databaseUrl)
      const isTold = Effect.map(team.purchases, (all) =>
        all.find(({ token }: { readonly token: string }) => token === bought.body.purchase.token)
      )
      yield* until(isTold, ({ isAcknowledged }) => isAcknowledged === true)
      deepStrictEqual(yield* team.types, ["customer.created", "subscription.started"])
    })
  )

  it.effect("asks the store before it ends a subscription", () =>
    Effect.gen(function* () {
      const team = yield* makeTeam
      yield* team.giveCredential
      const { databaseUrl } = yield* World
      const bought = yield* team.buy({ notification_url: undefined })
      const { token } = bought.body.purchase
      yield* team.show(token, team.user)
      const statusOf = Effect.map(team.subscriber, ({ subscriptions }) => subscriptions["pro:monthly"])
      yield* team.control(`/purchases/${token}/renew`)
      yield* hurry(databaseUrl)
      yield* until(statusOf, ({ store_transaction_id }) => store_transaction_id.endsWith("..0"))
      strictEqual((yield* statusOf).status, "active")
      strictEqual((yield* team.types).filter((type) => type === "subscription.expired").length, 0)
    })
  )
})

const subscriptionOf = (url: string, app: { readonly id: string; readonly token: string }) =>
  Effect.map(
    call("GET", `${url}/api/v1/apps/${app.id}/subscriptions`, { token: app.token }),
    ({ body }) => body.data[0]
  )

const eventsOf = (url: string, app: { readonly id: string; readonly token: string }, type: string) =>
  Effect.map(
    call("GET", `${url}/api/v1/apps/${app.id}/events?type=${type}`, { token: app.token }),
    ({ body }): number => body.data.length
  )

describe("an app of store A, left alone", () => {
  it.scopedLive(
    "ends by the clock what it cannot ask about, until the store says more",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld
        const { url } = yield* Gatehouse.serve(world.env)
        const app = yield* makeApp(url, world.receiver.url)
        yield* call("POST", `${world.storeA.url}/_control/clock`, { body: { running: false } })
        const bought = yield* buy(world, url, app.id, { period_seconds: 1 })
        const subscription = subscriptionOf(url, app)
        yield* until(subscription, ({ is_active, status }) => status === "active" && !is_active)
        yield* hurry(world.databaseUrl)
        yield* until(subscription, ({ status }) => status === "expired")
        strictEqual(yield* eventsOf(url, app, "subscription.expired"), 1)

        const id: string = bought.body.purchase.transactionId
        yield* call("POST", `${world.storeA.url}/_control/purchases/${id}/renew`)
        yield* until(subscription, ({ status }) => status === "active")
        strictEqual(yield* eventsOf(url, app, "subscription.renewed"), 1)
      }),
    240_000
  )

  it.scopedLive(
    "catches up with what was told while the program was down, and with nothing twice",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld
        const program = yield* Gatehouse.serve(world.env)
        const app = yield* makeApp(program.url, world.receiver.url)
        yield* giveCredential(world, program.url, app)
        const bought = yield* buy(world, program.url, app.id)
        const id: string = bought.body.purchase.transactionId
        strictEqual((yield* subscriptionOf(program.url, app)).status, "active")
        yield* Gatehouse.kill9(program)
        const move = (name: string) => call("POST", `${world.storeA.url}/_control/purchases/${id}/${name}`)
        yield* move("renew")
        yield* move("cancel")

        const { url } = yield* Gatehouse.serve(world.env)
        yield* until(subscriptionOf(url, app), ({ status }) => status === "canceled")
        strictEqual((yield* subscriptionOf(url, app)).original_transaction_id, id)
        for (const type of ["subscription.started", "subscription.renewed", "subscription.canceled"]) {
          deepStrictEqual([type, yield* eventsOf(url, app, type)], [type, 1])
        }
        const inbox = yield* call("GET", `${url}/api/v1/apps/${app.id}/store-notifications`, { token: app.token })
        deepStrictEqual(
          inbox.body.data.map(({ state }: { readonly state: string }) => state),
          ["applied", "applied", "applied"]
        )
      }),
    240_000
  )
})
