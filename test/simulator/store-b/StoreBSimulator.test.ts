import { NodeHttpClient } from "@effect/platform-node"
import { it } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { importPKCS8, SignJWT } from "jose"
import { Effect, Layer, Option } from "effect"
import * as StoreB from "../../../src/simulator/store-b/StoreBSimulator.ts"
import { call } from "../../support/Api.ts"
import * as HookLedger from "../../support/HookLedger.ts"
import { eventually } from "../../support/Story.ts"

const packageName = "com.example.notes"

const setting = Effect.gen(function* () {
  const receiver = yield* HookLedger.start
  const client = yield* Layer.build(NodeHttpClient.layerUndici)
  const options = { port: 0, notificationUrl: Option.some(receiver.url), secondsPerMonth: 30 }
  const { url } = yield* Effect.provide(StoreB.start(options), client)
  const control = (path: string, body: unknown = {}) => call("POST", `${url}/_control${path}`, { body })
  yield* control("/clock", { running: false })
  const file = (yield* call("GET", `${url}/_control/service-account`)).body
  const signIn = Effect.gen(function* () {
    const assertion = yield* Effect.promise(async () =>
      new SignJWT({ scope: "https://www.googleapis.com/auth/androidpublisher" })
        .setProtectedHeader({ alg: "RS256" })
        .setIssuer(file.client_email)
        .setAudience(file.token_uri)
        .setIssuedAt()
        .setExpirationTime("1h")
        .sign(await importPKCS8(file.private_key, "RS256"))
    )
    const headers = { "content-type": "application/x-www-form-urlencoded" }
    return yield* call("POST", file.token_uri, { raw: new URLSearchParams({ assertion }).toString(), headers })
  })
  const token: string = (yield* signIn).body.access_token
  const api = (method: string, path: string) =>
    call(method, `${url}/androidpublisher/v3/applications/${packageName}/purchases/${path}`, { token })
  const buy = (more: object = {}) =>
    Effect.map(control("/purchases", { package_name: packageName, product_id: "pro", ...more }), ({ body }) => ({
      ...body.purchase,
      token: body.purchase.token as string
    }))
  const read = (purchaseToken: string) =>
    Effect.map(api("GET", `subscriptionsv2/tokens/${purchaseToken}`), ({ body }) => body)
  const types = Effect.map(call("GET", `${url}/_control/notifications`), ({ body }) =>
    body.map(({ notification }: { notification: any }) =>
      notification.subscriptionNotification === undefined
        ? Object.keys(notification).at(-1)
        : notification.subscriptionNotification.notificationType
    )
  )
  return { receiver, url, control, signIn, api, buy, read, types }
})

it.scopedLive("what nobody acknowledges is refunded after three days, and listed as such", () =>
  Effect.gen(function* () {
    const { api, buy, control, read, types } = yield* setting
    const kept = yield* buy()
    strictEqual((yield* api("POST", `subscriptions/pro/tokens/${kept.token}:acknowledge`)).status, 200)
    const forgotten = yield* buy()
    const thing = yield* buy({ one_time: true })
    yield* control("/clock", { advance: "P4D" })
    yield* eventually(
      Effect.map(types, (all) => (all.length === 6 ? all : undefined)),
      "a revocation and two voided orders"
    )
    strictEqual((yield* read(kept.token)).subscriptionState, "SUBSCRIPTION_STATE_ACTIVE")
    strictEqual((yield* read(forgotten.token)).subscriptionState, "SUBSCRIPTION_STATE_EXPIRED")
    const first = (yield* api("GET", "voidedpurchases?type=1&maxResults=1")).body
    const second = (yield* api(
      "GET",
      `voidedpurchases?type=1&maxResults=1&token=${first.tokenPagination.nextPageToken}`
    )).body
    deepStrictEqual(
      [...first.voidedPurchases, ...second.voidedPurchases].map((one) => [
        one.purchaseToken,
        one.voidedReason,
        one.voidedSource
      ]),
      [
        [forgotten.token, 8, 2],
        [thing.token, 8, 2]
      ]
    )
    strictEqual((yield* api("GET", "voidedpurchases")).body.voidedPurchases.length, 1)
    yield* control("/clock", { advance: "P3M" })
    strictEqual((yield* api("GET", `subscriptionsv2/tokens/${forgotten.token}`)).status, 410)
  })
)

it.scopedLive("a new purchase takes an old one's place, at once, later or after its end", () =>
  Effect.gen(function* () {
    const { buy, control, read } = yield* setting
    const stays = { acknowledge_within: "P9Y" }
    const first = yield* buy(stays)
    const change = { product_id: "max", base_plan_id: "yearly", price: 49.99, period: "P1Y", mode: "deferred" }
    const deferred = (yield* control(`/purchases/${first.token}/change-plan`, change)).body.purchase
    const planned = yield* read(deferred.token)
    deepStrictEqual(
      [planned.linkedPurchaseToken, planned.lineItems[0].productId, planned.lineItems[0].deferredItemReplacement],
      [first.token, "pro", { productId: "max" }]
    )
    const replaced = yield* read(first.token)
    strictEqual(replaced.subscriptionState, "SUBSCRIPTION_STATE_EXPIRED")
    assertTrue("replacementCancellation" in replaced.canceledStateContext)
    yield* control("/clock", { advance: "P1M" })
    const renewed = yield* read(deferred.token)
    deepStrictEqual(
      [renewed.lineItems[0].productId, renewed.lineItems[0].latestSuccessfulOrderId],
      ["max", `${deferred.order}..0`]
    )
    yield* control(`/purchases/${deferred.token}/expire`)
    const back = (yield* control(`/purchases/${deferred.token}/resubscribe`)).body.purchase
    const again = yield* read(back.token)
    deepStrictEqual(again.outOfAppPurchaseContext, { expiredPurchaseToken: deferred.token })
    strictEqual(again.linkedPurchaseToken, undefined)
    const prepaid = yield* buy({ ...stays, prepaid: true })
    const more = (yield* control(`/purchases/${prepaid.token}/top-up`)).body.purchase
    strictEqual(more.expiryTime, prepaid.expiryTime + 30_000)
  })
)

it.scopedLive("it fails as it is told: without tokens, about another app, late and not at all", () =>
  Effect.gen(function* () {
    const { api, buy, control, receiver, signIn, url } = yield* setting
    const { token } = yield* buy()
    const status = Effect.map(api("GET", `subscriptionsv2/tokens/${token}`), (answer) => answer.status)
    for (const [preset, expected] of [
      ["rate_limited", 429],
      ["unauthorized", 401],
      ["gone", 410],
      ["server_error", 500]
    ] as const) {
      yield* control("/failures", { preset })
      strictEqual(yield* status, expected)
    }
    yield* control("/failures", { preset: "another_app" })
    const mixedUp = (yield* api("GET", `subscriptionsv2/tokens/${token}`)).body
    strictEqual(mixedUp.lineItems[0].productId, "product.of.another.app")
    yield* control("/failures", { preset: "token_endpoint_down" })
    strictEqual((yield* signIn).status, 503)
    strictEqual((yield* signIn).status, 503)
    yield* call("DELETE", `${url}/_control/failures`)
    strictEqual((yield* signIn).status, 200)
    yield* control("/clock", { running: true })
    const before = receiver.ledger.length
    receiver.script.push(203, 500)
    yield* buy()
    yield* eventually(
      Effect.sync(() => (receiver.ledger.length === before + 3 ? true : undefined)),
      "a third push"
    )
    deepStrictEqual(new Set(receiver.ledger.slice(before).map(({ body }) => body)).size, 1)
    strictEqual((yield* control(`/purchases/${token}/recover`)).status, 409)
    strictEqual((yield* control("/failures", { preset: "bad weather" })).status, 422)
  })
)
