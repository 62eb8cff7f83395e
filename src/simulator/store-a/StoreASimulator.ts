import { randomUUID } from "node:crypto"
import { HttpClient, HttpClientRequest, HttpRouter } from "@effect/platform"
import { Clock, Effect, Option, Schema } from "effect"
import { body, json, listen } from "../SimulatorServer.ts"
import { NewPurchase, type Purchase, renewalPayload, renews, transactionPayload } from "./Purchase.ts"
import * as ServerRoutes from "./ServerRoutes.ts"
import { makeAuthority } from "./SigningAuthority.ts"

interface Sent extends ServerRoutes.SentNotification {
  readonly notificationType: string
  readonly subtype: string | undefined
  readonly notificationUUID: string
  readonly url: string | undefined
}

export interface StoreASimulator {
  readonly url: string
  readonly rootPem: string
}

const gracePeriod = 16 * 86_400_000

const AtWill = Schema.Struct({ grace: Schema.optionalWith(Schema.Boolean, { default: () => false }) })

/**
 * Stands in for store A: an own signing authority, notifications pushed to `notificationUrl`, the Server API
 * (sandbox under `/sandbox`),
 * and a control API under `/_control`. The clock is the runtime's.
 */
export const start = Effect.fn("StoreASimulator.start")(function* (options: {
  readonly port: number
  readonly notificationUrl: Option.Option<string>
}) {
  const authority = yield* makeAuthority()
  const client = yield* HttpClient.HttpClient
  const purchases = new Map<string, Purchase>()
  const periods: Array<Purchase> = []
  const sent: Array<Sent> = []
  const tested = new Map<string, { signedPayload: string; result: string; at: number }>()
  let lastTransaction = 2_000_000_000

  const nextTransaction = () => String(++lastTransaction)

  const deliver = (notification: Pick<Sent, "signedPayload" | "url">) =>
    notification.url === undefined
      ? Effect.succeed(null)
      : HttpClientRequest.post(notification.url).pipe(
          HttpClientRequest.bodyUnsafeJson({ signedPayload: notification.signedPayload }),
          client.execute,
          Effect.flatMap((response) => Effect.map(response.text, (text) => ({ status: response.status, body: text }))),
          Effect.timeout("10 seconds"),
          Effect.catchAll(() => Effect.succeed({ status: 0, body: "no answer" }))
        )

  const notify = Effect.fn("StoreASimulator.notify")(function* (
    type: string,
    subtype: string | undefined,
    purchase: Purchase
  ) {
    const signedDate = yield* Clock.currentTimeMillis
    const notificationUUID = randomUUID()
    const signedPayload = yield* authority.sign({
      notificationType: type,
      ...(subtype === undefined ? {} : { subtype }),
      notificationUUID,
      version: "2.0",
      signedDate,
      data: {
        environment: purchase.terms.environment,
        bundleId: purchase.terms.bundle_id,
        bundleVersion: "1",
        signedTransactionInfo: yield* authority.sign(transactionPayload(purchase, signedDate)),
        ...(renews(purchase)
          ? {
              signedRenewalInfo: yield* authority.sign(renewalPayload(purchase, signedDate)),
              status: purchase.status
            }
          : {})
      }
    })
    const url = purchase.terms.notification_url ?? Option.getOrUndefined(options.notificationUrl)
    const { bundle_id: bundleId, environment } = purchase.terms
    const named = { notificationType: type, subtype, notificationUUID, bundleId, environment }
    const notification = { ...named, signedDate, signedPayload, url }
    sent.push(notification)
    purchases.set(purchase.originalTransactionId, purchase)
    const known = periods.findIndex(({ transactionId }) => transactionId === purchase.transactionId)
    periods.splice(known === -1 ? periods.length : known, 1, purchase)
    const receiver = yield* deliver(notification)
    return json({ purchase, notification, receiver })
  })

  const onPurchase = (
    path: `/${string}`,
    change: (
      purchase: Purchase,
      now: number,
      grace: boolean
    ) => readonly [string, string | undefined, Partial<Purchase>]
  ) =>
    HttpRouter.post(
      `/_control/purchases/:id/${path.slice(1)}`,
      Effect.gen(function* () {
        const { id = "" } = yield* HttpRouter.params
        const purchase = purchases.get(id)
        if (purchase === undefined) return json({ message: "No such purchase." }, 404)
        const { grace } = yield* body(AtWill)
        const [type, subtype, changes] = change(purchase, yield* Clock.currentTimeMillis, grace)
        return yield* notify(type, subtype, { ...purchase, ...changes })
      })
    )

  const control = HttpRouter.empty.pipe(
    HttpRouter.get("/_control/root.pem", Effect.succeed(json({ pem: authority.rootPem }))),
    HttpRouter.get(
      "/_control/purchases",
      Effect.sync(() => json([...purchases.values()]))
    ),
    HttpRouter.get(
      "/_control/notifications",
      Effect.sync(() => json(sent))
    ),
    HttpRouter.post(
      "/_control/purchases",
      Effect.gen(function* () {
        const terms = yield* body(NewPurchase)
        const now = yield* Clock.currentTimeMillis
        const id = nextTransaction()
        const isSubscription = terms.type === "Auto-Renewable Subscription"
        return yield* notify(
          isSubscription ? "SUBSCRIBED" : "ONE_TIME_CHARGE",
          isSubscription ? "INITIAL_BUY" : undefined,
          {
            terms,
            originalTransactionId: id,
            originalPurchaseDate: now,
            transactionId: id,
            purchaseDate: now,
            expiresDate: now + Math.round(terms.period_seconds * 1000),
            isTrial: terms.trial,
            autoRenew: true,
            status: 1,
            gracePeriodExpiresDate: undefined,
            revocationDate: undefined
          }
        )
      })
    ),
    onPurchase("/renew", (purchase, now) => {
      const recovers = purchase.status === 3 || purchase.status === 4
      const start = Math.max(purchase.expiresDate, recovers ? now : purchase.expiresDate)
      return [
        "DID_RENEW",
        recovers ? "BILLING_RECOVERY" : undefined,
        {
          transactionId: nextTransaction(),
          purchaseDate: start,
          expiresDate: start + Math.round(purchase.terms.period_seconds * 1000),
          isTrial: false,
          status: 1,
          gracePeriodExpiresDate: undefined
        }
      ]
    }),
    onPurchase("/cancel", () => ["DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", { autoRenew: false }]),
    onPurchase("/uncancel", () => ["DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED", { autoRenew: true }]),
    onPurchase("/fail-billing", (_, now, grace) => [
      "DID_FAIL_TO_RENEW",
      grace ? "GRACE_PERIOD" : undefined,
      { status: grace ? 4 : 3, gracePeriodExpiresDate: grace ? now + gracePeriod : undefined }
    ]),
    onPurchase("/expire", ({ autoRenew }, now) => [
      "EXPIRED",
      autoRenew ? "BILLING_RETRY" : "VOLUNTARY",
      { status: 2, expiresDate: now, gracePeriodExpiresDate: undefined }
    ]),
    onPurchase("/refund", (_, now) => ["REFUND", undefined, { status: 5, revocationDate: now }]),
    HttpRouter.post(
      "/_control/notifications/:uuid/resend",
      Effect.gen(function* () {
        const { uuid } = yield* HttpRouter.params
        const notification = sent.find(({ notificationUUID }) => notificationUUID === uuid)
        if (notification === undefined) return json({ message: "No such notification." }, 404)
        return json({ notification, receiver: yield* deliver(notification) })
      })
    )
  )

  const testOf: ServerRoutes.Books["testOf"] = (bundleId, environment) =>
    Effect.gen(function* () {
      const target = [...purchases.values()].find(
        ({ terms }) => terms.bundle_id === bundleId && terms.notification_url !== undefined
      )
      const url = target?.terms.notification_url ?? Option.getOrUndefined(options.notificationUrl)
      if (url === undefined) return Option.none()
      const at = yield* Clock.currentTimeMillis
      const notificationUUID = randomUUID()
      const signedPayload = yield* authority.sign({
        notificationType: "TEST",
        notificationUUID,
        version: "2.0",
        signedDate: at,
        data: { environment, bundleId, bundleVersion: "1" }
      })
      const receiver = yield* deliver({ signedPayload, url })
      const result = receiver?.status === 200 ? "SUCCESS" : "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
      tested.set(notificationUUID, { signedPayload, result, at })
      return Option.some(notificationUUID)
    })

  const serverApi = ServerRoutes.make(authority, { purchases, periods, sent, tested, testOf })
  const { url } = yield* listen(HttpRouter.concat(control, serverApi), options.port)
  return { url, rootPem: authority.rootPem } satisfies StoreASimulator
})
