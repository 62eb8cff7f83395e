import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect, Redacted } from "effect"
import { Webhook } from "standardwebhooks"
import { makeAuthority } from "../../src/simulator/store-a/SigningAuthority.ts"
import { verify } from "../../src/webhook/domain/Signature.ts"
import { call } from "../support/Api.ts"
import * as Gatehouse from "../support/Gatehouse.ts"
import { buy, eventually, makeApp, makeWorld } from "../support/Story.ts"

const user = "0d2f7a4e-7c1b-4a9e-8f0a-944455556666"

describe("a purchase becomes an entitlement", () => {
  it.live(
    "from the store's notification to the phone and to the team's backend, renewed, refunded, repeated and forged",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const world = yield* makeWorld
          const { url } = yield* Gatehouse.serve(world.env)
          const app = yield* makeApp(url, world.receiver.url)
          const subscriber = call("GET", `${url}/api/v1/client/subscribers/${user}`, { token: app.key })
          const events = call("GET", `${url}/api/v1/apps/${app.id}/events?limit=100`, { token: app.token })
          const types = Effect.map(events, ({ body }): Array<string> =>
            body.data.map(({ type }: { type: string }) => type).reverse()
          )

          const bought = yield* buy(world, url, app.id)
          assert.strictEqual(bought.body.receiver.status, 200)
          const first = yield* subscriber
          assert.strictEqual(first.body.subscriber.entitlements.pro.is_active, true)
          assert.strictEqual(first.body.subscriber.subscriptions["pro.monthly"].price, 9.99)
          deepStrictEqual((yield* subscriber).body, first.body)
          const managed = yield* call("GET", `${url}/api/v1/apps/${app.id}/customers/${user}`, { token: app.token })
          deepStrictEqual(managed.body, first.body)

          const delivered = yield* eventually(
            Effect.sync(() => world.receiver.ledger.find(({ event }) => event === "subscription.started")),
            "subscription.started"
          )
          assert.isTrue(
            verify(Redacted.make(app.secret), delivered.body, String(delivered.headers["x-webhook-signature"]))
          )
          new Webhook(app.secret).verify(delivered.body, {
            "webhook-id": String(delivered.headers["webhook-id"]),
            "webhook-timestamp": String(delivered.headers["webhook-timestamp"]),
            "webhook-signature": String(delivered.headers["webhook-signature"])
          })
          assert.strictEqual(delivered.headers["user-agent"], "Gatehouse-Webhook/1.0")

          const purchase: string = bought.body.purchase.originalTransactionId
          const act = (what: string, body: object = {}) =>
            call("POST", `${world.storeA.url}/_control/purchases/${purchase}/${what}`, { body })
          const renewed = yield* act("renew")
          yield* act("cancel")
          const repeated = yield* call(
            "POST",
            `${world.storeA.url}/_control/notifications/${renewed.body.notification.notificationUUID}/resend`
          )
          assert.strictEqual(JSON.parse(repeated.body.receiver.body).data.status, "duplicate")
          assert.strictEqual((yield* subscriber).body.subscriber.subscriptions["pro.monthly"].status, "canceled")
          yield* act("refund")
          const refunded = (yield* subscriber).body.subscriber
          assert.strictEqual(refunded.entitlements.pro.is_active, false)
          assert.strictEqual(refunded.subscriptions["pro.monthly"].status, "revoked")
          const story = [
            "customer.created",
            "subscription.started",
            "subscription.renewed",
            "subscription.canceled",
            "subscription.refunded"
          ]
          deepStrictEqual(yield* types, story)

          const foreign = yield* makeAuthority()
          const notify = (signedPayload: unknown) =>
            call("POST", `${url}/api/v1/stores/store_a/notifications/${app.id}`, { body: { signedPayload } })
          const genuine: string = renewed.body.notification.signedPayload
          const forged = yield* foreign.sign({
            notificationType: "REFUND",
            notificationUUID: "x",
            signedDate: Date.now()
          })
          const elsewhere = yield* buy(world, url, app.id, { bundle_id: "com.example.other" })
          assert.strictEqual(elsewhere.body.receiver.status, 401)
          for (const payload of [forged, `${genuine.slice(0, -4)}AAAA`, "a.b.c"]) {
            assert.strictEqual((yield* notify(payload)).status, 401)
          }
          assert.strictEqual((yield* notify(7)).status, 422)
          deepStrictEqual(yield* types, story)
          const inbox = yield* call("GET", `${url}/api/v1/apps/${app.id}/store-notifications`, { token: app.token })
          assert.strictEqual(inbox.body.data.length, 4)
          assert.isTrue(inbox.body.data.every(({ state }: { state: string }) => state === "applied"))
          const ledger = yield* call("GET", `${url}/api/v1/apps/${app.id}/transactions`, { token: app.token })
          assert.strictEqual(ledger.body.data.length, 2)
        })
      ),
    240_000
  )
})
