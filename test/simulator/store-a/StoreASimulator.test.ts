import {
  AppStoreServerAPIClient,
  Environment,
  GetTransactionHistoryVersion,
  SignedDataVerifier
} from "@apple/app-store-server-library"
import { NodeHttpClient } from "@effect/platform-node"
import { it } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { X509Certificate } from "node:crypto"
import { Effect, Layer, Option } from "effect"
import * as StoreA from "../../../src/simulator/store-a/StoreASimulator.ts"
import { call } from "../../support/Api.ts"
import * as HookLedger from "../../support/HookLedger.ts"
import { eventually } from "../../support/Story.ts"

const bundleId = "com.example.notes"
const appAppleId = 1_000_000_001

/** The store's own client, sent to the simulator: its address is the one thing that it does not let one choose. */
class TheirClient extends AppStoreServerAPIClient {
  constructor(key: { private_key: string; key_id: string; issuer_id: string }, address: string) {
    super(key.private_key, key.key_id, key.issuer_id, bundleId, Environment.PRODUCTION)
    Object.assign(this, { urlBase: address })
  }
}

const setting = Effect.gen(function* () {
  const receiver = yield* HookLedger.start
  const client = yield* Layer.build(NodeHttpClient.layerUndici)
  const options = { port: 0, notificationUrl: Option.some(receiver.url), secondsPerMonth: 60 }
  const { rootPem, url } = yield* Effect.provide(StoreA.start(options), client)
  const control = (path: string, body: unknown = {}) => call("POST", `${url}/_control${path}`, { body })
  yield* control("/clock", { running: false })
  const { body: key } = yield* control("/keys", { bundle_id: bundleId })
  const theirs = new TheirClient(key, url)
  const verifier = new SignedDataVerifier(
    [new X509Certificate(rootPem).raw],
    false,
    Environment.PRODUCTION,
    bundleId,
    appAppleId
  )
  const asked = <A>(ask: () => Promise<A>) =>
    Effect.promise(() =>
      ask().catch((error: { readonly apiError?: number; readonly httpStatusCode?: number }) => error)
    )
  const buy = (more: object = {}) => control("/purchases", { bundle_id: bundleId, product_id: "pro", ...more })
  const told = Effect.map(call("GET", `${url}/_control/notifications`), ({ body }): ReadonlyArray<any> => body)
  return { receiver, url, control, theirs, verifier, asked, buy, told }
})

it.scopedLive("the store's own library believes every notification of a long life", () =>
  Effect.gen(function* () {
    const { buy, control, told, url, verifier } = yield* setting
    const offer = { kind: "offer_code", discount: "PAY_AS_YOU_GO", identifier: "SPRING", periods: 2, price: 1990 }
    const bought = yield* buy({ offer, grace_period: "P3D", app_account_token: "0d2f7a4e-7c1b-4a9e-8f0a-944455556666" })
    const id: string = bought.body.purchase.originalTransactionId
    const deeds: ReadonlyArray<readonly [string, object?]> = [
      ["cancel"],
      ["uncancel"],
      ["raise-price", { price: 12_990 }],
      ["consent"],
      ["change-product", { product_id: "plus", price: 19_990, mode: "downgrade" }],
      ["cancel-change"],
      ["change-product", { product_id: "plus", price: 19_990 }],
      ["redeem-offer", { kind: "promotional", identifier: "more", price: 990, discount: "PAY_UP_FRONT" }],
      ["extend", { by: "P7D" }],
      ["request-refund"],
      ["decline-refund"],
      ["fail-billing", { grace: true }],
      ["payment", { works: true }],
      ["refund", { percent: 50 }],
      ["reverse-refund"],
      ["expire", { reason: "VOLUNTARY" }],
      ["resubscribe", { offer: { kind: "win_back", price: 0 } }]
    ]
    for (const [deed, body] of deeds) {
      strictEqual((yield* control(`/purchases/${id}/${deed}`, body)).status, 200, deed)
    }
    const shared = yield* control(`/purchases/${id}/share`)
    strictEqual((yield* control(`/purchases/${id}/refund`)).status, 200)
    const member = yield* call("GET", `${url}/_control/purchases/${shared.body.purchase.originalTransactionId}`)
    strictEqual(member.body.status, 5)
    yield* buy({ type: "Consumable", quantity: 3 })
    yield* buy({ type: "Non-Consumable" })
    yield* buy({ type: "Non-Renewing Subscription" })
    const letters = yield* told
    strictEqual(letters.length, deeds.length + 1 + 3 + 3)
    for (const { notificationType, signedPayload } of letters) {
      const payload = yield* Effect.promise(() => verifier.verifyAndDecodeNotification(signedPayload))
      strictEqual(payload.notificationType, notificationType)
      const { signedRenewalInfo, signedTransactionInfo } = payload.data ?? {}
      const transaction = yield* Effect.promise(() =>
        verifier.verifyAndDecodeTransaction(signedTransactionInfo ?? "missing")
      )
      strictEqual(transaction.bundleId, bundleId)
      if (transaction.type === "Auto-Renewable Subscription") {
        const renewal = yield* Effect.promise(() => verifier.verifyAndDecodeRenewalInfo(signedRenewalInfo ?? "missing"))
        strictEqual(renewal.originalTransactionId, transaction.originalTransactionId)
      }
    }
  })
)

it.scopedLive("a month passes when the clock says so, and the store's own client reads what came of it", () =>
  Effect.gen(function* () {
    const { asked, buy, control, theirs, told } = yield* setting
    const bought = yield* buy({ trial: true, trial_period: "P1W" })
    const id: string = bought.body.purchase.originalTransactionId
    const { body: clock } = yield* control("/clock", { advance: "P1M" })
    deepStrictEqual([clock.running, clock.seconds_per_month], [false, 60])
    yield* eventually(
      Effect.map(told, (all) => (all.length === 2 && all[1].attempts.length === 1 ? all : undefined)),
      "a renewal that is sent"
    )
    const history = yield* Effect.promise(() =>
      theirs.getTransactionHistory(id, null, { revoked: false }, GetTransactionHistoryVersion.V2)
    )
    strictEqual(history.signedTransactions?.length, 2)
    const failures = yield* Effect.promise(() =>
      theirs.getNotificationHistory(null, { startDate: 0, endDate: 8e12, onlyFailures: true })
    )
    strictEqual(failures.notificationHistory?.length, 0)
    const code = (ask: () => Promise<unknown>) => Effect.map(asked(ask), (error: any) => error.apiError)
    strictEqual(yield* code(() => theirs.getTransactionInfo("7")), 4040010)
    strictEqual(yield* code(() => theirs.getTransactionInfo("x")), 4000006)
    strictEqual(
      yield* code(() => theirs.getTransactionHistory(id, "nonsense", {}, GetTransactionHistoryVersion.V2)),
      4000005
    )
    strictEqual(yield* code(() => theirs.getNotificationHistory(null, { startDate: 2, endDate: 1 })), 4000013)
    const extended = yield* Effect.promise(() =>
      theirs.extendSubscriptionRenewalDate(id, { extendByDays: 7, extendReasonCode: 1, requestIdentifier: "r" })
    )
    assertTrue(extended.success)
    yield* control("/failures", { preset: "rate_limited" })
    strictEqual(yield* code(() => theirs.getTransactionInfo(id)), 4290000)
    yield* control("/failures", { preset: "unauthorized" })
    strictEqual((yield* asked<any>(() => theirs.getTransactionInfo(id))).httpStatusCode, 401)
    yield* control("/failures", { preset: "outage" })
    assertTrue((yield* asked<any>(() => theirs.getAllSubscriptionStatuses(id))) instanceof Error)
    yield* call("DELETE", `${theirs["urlBase"]}/_control/failures`)
    yield* control("/failures", { preset: "another_app" })
    const mixedUp = yield* Effect.promise(() => theirs.getTransactionInfo(id))
    assertTrue(atob(mixedUp.signedTransactionInfo?.split(".")[1] ?? "").includes("com.example.another-app"))
  })
)

it.scopedLive("notifications are tried again, held, turned round, copied and lost", () =>
  Effect.gen(function* () {
    const { buy, control, receiver, told, url } = yield* setting
    yield* control("/clock", { seconds_per_month: 0.1, running: true })
    receiver.script.push(500, 500)
    const first = yield* buy({ seconds_per_month: 1e6 })
    strictEqual(first.body.receiver.status, 500)
    yield* eventually(
      Effect.map(told, ([letter]) =>
        letter.attempts.map(({ status }: { status: number }) => status).join() === "500,500,200" ? letter : undefined
      ),
      "a third attempt that is taken"
    )
    const id: string = first.body.purchase.originalTransactionId
    const seen = receiver.ledger.length
    yield* control("/delivery", { send: "hold" })
    strictEqual((yield* control(`/purchases/${id}/cancel`)).body.receiver, null)
    yield* control(`/purchases/${id}/uncancel`)
    strictEqual(receiver.ledger.length, seen)
    strictEqual((yield* control("/notifications/release", { order: "reversed" })).body.released, 2)
    const sent = (yield* told).slice(1).map(({ signedPayload }) => signedPayload)
    deepStrictEqual(
      receiver.ledger.slice(seen).map(({ body }) => JSON.parse(body).signedPayload),
      sent.toReversed()
    )
    yield* control("/delivery", { copies: 3 })
    yield* control(`/purchases/${id}/cancel`)
    strictEqual(receiver.ledger.length, seen + 5)
    yield* control("/delivery", { send: "never", copies: 1 })
    yield* control(`/purchases/${id}/uncancel`)
    strictEqual(receiver.ledger.length, seen + 5)
    strictEqual((yield* told).length, 5)
    const wrong = yield* control(`/purchases/${id}/extend`, { by: "soon", and: 1 })
    strictEqual(wrong.status, 422)
    deepStrictEqual(Object.keys(wrong.body.errors).toSorted(), ["and", "by"])
    strictEqual((yield* control(`/purchases/${id}/resubscribe`)).status, 409)
    strictEqual((yield* control("/purchases/7/renew")).status, 404)
    const { body: list } = yield* call("GET", `${url}/`)
    assertTrue(list.control.some((one: { call: string }) => one.call === "POST /_control/purchases/:id/renew"))
  })
)
