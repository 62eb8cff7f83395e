import { HttpRouter, HttpServerRequest } from "@effect/platform"
import { randomUUID } from "node:crypto"
import { Clock, Effect, Option, Schema } from "effect"
import { Failure, makeScript } from "../platform-b/Script.ts"
import { body, json, listen } from "../SimulatorServer.ts"
import { makeAccounts } from "./Accounts.ts"
import { NewPurchase, orderOf, productResource, type Purchase, subscriptionResource } from "./Purchase.ts"
import { makePushSender } from "./PushSender.ts"

export interface StoreBSimulator {
  readonly url: string
  readonly pushKeysUrl: string
}

interface Voided {
  readonly packageName: string
  readonly purchaseToken: string
  readonly orderId: string
  readonly voidedTimeMillis: string
}

const day = 86_400_000

const problem = (status: number, reason: string) =>
  json({ error: { code: status, message: reason, status: reason, errors: [{ reason, domain: "global" }] } }, status)

const unknown = problem(404, "purchaseTokenNotFound")
const noPurchase = json({ message: "No such purchase." }, 404)

const Upgrade = Schema.Struct({ product_id: Schema.NonEmptyString, base_plan_id: Schema.optional(Schema.String) })
const Test = Schema.Struct({ package_name: Schema.NonEmptyString, notification_url: Schema.optional(Schema.String) })

type Move = (purchase: Purchase, now: number) => readonly [type: number, changes: Partial<Purchase>]

const periodOf = ({ terms }: Purchase) => Math.round(terms.period_seconds * 1000)

const nextPeriod = (purchase: Purchase, from: number): Partial<Purchase> => ({
  state: "ACTIVE",
  isTrial: false,
  renewals: purchase.renewals + 1,
  expiryTime: from + periodOf(purchase),
  autoResumeTime: undefined
})

/** What a control call changes, and the type of the notification that tells of it. */
const moves: { readonly [name: string]: Move } = {
  complete: (purchase, now) => [4, { state: "ACTIVE", startTime: now, expiryTime: now + periodOf(purchase) }],
  "cancel-pending": () => [20, { state: "PENDING_PURCHASE_CANCELED" }],
  renew: (purchase) => [2, nextPeriod(purchase, purchase.expiryTime)],
  recover: (purchase, now) => [1, nextPeriod(purchase, Math.max(now, purchase.expiryTime))],
  resume: (purchase, now) => [1, nextPeriod(purchase, now)],
  cancel: () => [3, { state: "CANCELED", autoRenew: false }],
  restart: () => [7, { state: "ACTIVE", autoRenew: true }],
  hold: (_, now) => [5, { state: "ON_HOLD", expiryTime: now }],
  grace: (_, now) => [6, { state: "IN_GRACE_PERIOD", expiryTime: now + 7 * day }],
  "plan-pause": () => [11, {}],
  pause: (_, now) => [10, { state: "PAUSED", expiryTime: now, autoResumeTime: now + 30 * day }],
  defer: (purchase) => [9, { expiryTime: purchase.expiryTime + 7 * day }],
  revoke: (_, now) => [12, { state: "EXPIRED", autoRenew: false, expiryTime: now }],
  expire: (_, now) => [13, { state: "EXPIRED", autoRenew: false, expiryTime: now }]
}

/**
 * Stands in for store B: a token endpoint that verifies assertions, the reads and acknowledgements of its API, pushes with
 * signed tokens and the keys to verify them, and a control API under `/_control`. The clock is the runtime's.
 */
export const start = Effect.fn("StoreBSimulator.start")(function* (options: {
  readonly port: number
  readonly notificationUrl: Option.Option<string>
}) {
  let address = ""
  const accounts = yield* makeAccounts(() => `${address}/token`)
  const pushes = yield* makePushSender({ notificationUrl: options.notificationUrl, email: accounts.email })
  const script = makeScript()
  const purchases = new Map<string, Purchase>()
  const voided: Array<Voided> = []
  let lastOrder = 1000

  const nextOrder = () => {
    lastOrder += 1
    return `GPA.3300-0000-0000-${String(lastOrder).padStart(5, "0")}`
  }

  const notify = (purchase: Purchase, what: object) =>
    Effect.map(
      pushes.send(purchase.terms.package_name, what, {
        notification_url: purchase.terms.notification_url,
        push_audience: purchase.terms.push_audience
      }),
      (outcome) => json({ purchase, ...outcome })
    )

  const told = (purchase: Purchase, notificationType: number) =>
    purchase.terms.one_time
      ? {
          oneTimeProductNotification: {
            version: "1.0",
            notificationType,
            purchaseToken: purchase.token,
            sku: purchase.terms.product_id
          }
        }
      : { subscriptionNotification: { version: "1.0", notificationType, purchaseToken: purchase.token } }

  const onPurchase = <E, R>(
    path: string,
    change: (purchase: Purchase, now: number) => Effect.Effect<ReturnType<typeof json>, E, R>
  ) =>
    HttpRouter.post(
      `/_control/purchases/:token/${path}`,
      Effect.gen(function* () {
        const { token = "" } = yield* HttpRouter.params
        const purchase = purchases.get(token)
        return purchase === undefined ? noPurchase : yield* change(purchase, yield* Clock.currentTimeMillis)
      })
    )

  const buy = (terms: NewPurchase, now: number, linkedPurchaseToken: string | undefined) => {
    const purchase: Purchase = {
      terms,
      token: `simulated-${randomUUID()}`,
      order: nextOrder(),
      startTime: now,
      expiryTime: now + Math.round(terms.period_seconds * 1000),
      renewals: 0,
      state: terms.pending ? "PENDING" : "ACTIVE",
      isTrial: terms.trial,
      autoRenew: true,
      isAcknowledged: false,
      linkedPurchaseToken,
      autoResumeTime: undefined
    }
    purchases.set(purchase.token, purchase)
    return notify(purchase, told(purchase, terms.one_time ? 1 : 4))
  }

  const upgrade = onPurchase("upgrade", (purchase, now) =>
    Effect.flatMap(body(Upgrade), ({ base_plan_id, product_id }) => {
      purchases.set(purchase.token, { ...purchase, state: "EXPIRED", autoRenew: false, expiryTime: now })
      return buy({ ...purchase.terms, product_id, base_plan_id, trial: false }, now, purchase.token)
    })
  )

  const refund = onPurchase("refund", (purchase, now) => {
    const state = purchase.terms.one_time ? "CANCELLED" : "EXPIRED"
    const refunded = { ...purchase, state, autoRenew: false, expiryTime: Math.min(now, purchase.expiryTime) }
    const orderId = orderOf(purchase)
    const { token } = purchase
    purchases.set(token, refunded)
    voided.push({
      packageName: purchase.terms.package_name,
      purchaseToken: token,
      orderId,
      voidedTimeMillis: String(now)
    })
    const productType = purchase.terms.one_time ? 2 : 1
    return notify(refunded, {
      voidedPurchaseNotification: { purchaseToken: token, orderId, productType, refundType: 1 }
    })
  })

  const moved = Object.entries(moves).map(([name, move]) =>
    onPurchase(name, (purchase, now) => {
      const [type, changes] = move(purchase, now)
      const changed = { ...purchase, ...changes }
      purchases.set(purchase.token, changed)
      return notify(changed, told(changed, type))
    })
  )

  const resend = Effect.gen(function* () {
    const { id } = yield* HttpRouter.params
    const push = pushes.sent.find(({ messageId }) => messageId === id)
    if (push === undefined) return json({ message: "No such notification." }, 404)
    return json({ push, receiver: yield* pushes.deliver(push) })
  })

  const control = HttpRouter.empty.pipe(
    HttpRouter.post(
      "/_control/purchases",
      Effect.gen(function* () {
        const terms = yield* body(NewPurchase)
        return yield* buy(terms, yield* Clock.currentTimeMillis, undefined)
      })
    ),
    HttpRouter.get(
      "/_control/purchases",
      Effect.sync(() => json([...purchases.values()]))
    ),
    HttpRouter.get(
      "/_control/notifications",
      Effect.sync(() => json(pushes.sent))
    ),
    HttpRouter.post("/_control/notifications/:id/resend", resend),
    HttpRouter.post(
      "/_control/test-notification",
      Effect.gen(function* () {
        const { notification_url, package_name } = yield* body(Test)
        const what = { testNotification: { version: "1.0" } }
        return json(yield* pushes.send(package_name, what, { notification_url, push_audience: undefined }))
      })
    ),
    HttpRouter.get(
      "/_control/service-account",
      Effect.sync(() => json(accounts.file()))
    ),
    HttpRouter.post(
      "/_control/failures",
      Effect.map(body(Failure), (failure) => (script.add(failure), json(failure)))
    ),
    HttpRouter.get(
      "/_control/requests",
      Effect.sync(() => json(script.calls))
    ),
    HttpRouter.del(
      "/_control/requests",
      Effect.sync(() => (script.clear(), json({ cleared: true })))
    )
  )

  const asked = Effect.gen(function* () {
    const { package: packageName, token = "" } = yield* HttpRouter.params
    const purchase = purchases.get(token.replace(/:acknowledge$/, ""))
    return purchase?.terms.package_name === packageName ? purchase : undefined
  })

  const signedIn = <E, R>(answer: Effect.Effect<ReturnType<typeof json>, E, R>) =>
    Effect.flatMap(accounts.isSignedIn, (is) => (is ? answer : Effect.succeed(problem(401, "authError"))))

  const read = (oneTime: boolean) =>
    signedIn(
      Effect.map(asked, (purchase) => {
        if (purchase === undefined || purchase.terms.one_time !== oneTime) return unknown
        return json(oneTime ? productResource(purchase) : subscriptionResource(purchase))
      })
    )

  const acknowledge = signedIn(
    Effect.map(asked, (purchase) => {
      if (purchase === undefined) return unknown
      purchases.set(purchase.token, { ...purchase, isAcknowledged: true })
      return json({})
    })
  )

  const listVoided = signedIn(
    Effect.gen(function* () {
      const { package: packageName } = yield* HttpRouter.params
      const query = yield* HttpServerRequest.ParsedSearchParams
      const from = Number(query["startTime"] ?? 0)
      return json({
        voidedPurchases: voided.filter(
          (entry) => entry.packageName === packageName && Number(entry.voidedTimeMillis) >= from
        )
      })
    })
  )

  const prefix = "/androidpublisher/v3/applications/:package/purchases"
  const publisher = HttpRouter.empty.pipe(
    HttpRouter.post("/token", accounts.token),
    HttpRouter.get("/oauth2/v3/certs", Effect.succeed(json(pushes.jwks))),
    HttpRouter.get(`${prefix}/subscriptionsv2/tokens/:token`, read(false)),
    HttpRouter.get(`${prefix}/productsv2/tokens/:token`, read(true)),
    HttpRouter.get(`${prefix}/voidedpurchases`, listVoided),
    HttpRouter.post(`${prefix}/subscriptions/:product/tokens/:token`, acknowledge),
    HttpRouter.post(`${prefix}/products/:product/tokens/:token`, acknowledge)
  )

  const all = [upgrade, refund, ...moved].reduce(
    (router, route) => route(router),
    HttpRouter.concat(control, publisher)
  )
  const { url } = yield* listen(script.apply(all), options.port)
  address = url
  return { url, pushKeysUrl: `${url}/oauth2/v3/certs` } satisfies StoreBSimulator
})
