import { HttpRouter, HttpServerRequest, type HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"
import { isAboutAnotherApp } from "../Script.ts"
import { json } from "../SimulatorServer.ts"
import type { StoreClock } from "../StoreClock.ts"
import { after } from "../Timescale.ts"
import type { makeAccounts } from "./Accounts.ts"
import type { Books } from "./Books.ts"
import type { Deed } from "./Deed.ts"
import type { Purchase } from "./Purchase.ts"
import { olderProductResource, productResource, subscriptionResource } from "./Resources.ts"

/** The body of an error as the store writes it. */
export const problemBody = (status: number, reason: string) => ({
  error: { code: status, message: reason, status: reason, errors: [{ reason, domain: "global", message: reason }] }
})

const problem = (status: number, reason: string) => json(problemBody(status, reason), status)

const kept = "P60D"
const mostVoided = 1000

const ofAnotherApp = (purchase: Purchase): Purchase => ({
  ...purchase,
  plan: { ...purchase.plan, productId: "product.of.another.app" }
})

const verbs: { readonly [verb: string]: Deed } = {
  "subscriptions:acknowledge": { _tag: "acknowledge" },
  "products:acknowledge": { _tag: "acknowledge" },
  "products:consume": { _tag: "consume" },
  "subscriptions:cancel": { _tag: "cancel", by: "developer" },
  "subscriptionsv2:cancel": { _tag: "cancel", by: "developer" },
  "subscriptionsv2:revoke": { _tag: "revoke" }
}

/** The Publisher API, as far as a backend reads, acknowledges and takes back purchases. */
export const publisherRoutes = (parts: {
  readonly accounts: Effect.Effect.Success<ReturnType<typeof makeAccounts>>
  readonly books: Books
  readonly clock: StoreClock
  readonly jwks: object
}) => {
  const { accounts, books, clock, jwks } = parts

  const signedIn = <E, R>(answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
    Effect.flatMap(accounts.isSignedIn, (is) => (is ? answer : Effect.succeed(problem(401, "authError"))))

  const asked = Effect.gen(function* () {
    const { package: packageName, token: named = "" } = yield* HttpRouter.params
    const [token = "", verb = ""] = named.split(":")
    const known = yield* books.find(token)
    if (known === undefined) return { refusal: problem(404, "purchaseTokenNotFound") }
    const { purchase } = known
    if (purchase.terms.package_name !== packageName) {
      return { refusal: problem(400, "purchaseTokenDoesNotMatchPackageName") }
    }
    return { purchase, verb }
  })

  const isGone = ({ expiryTime, state }: Purchase, now: number) =>
    state === "EXPIRED" && after(expiryTime, kept, clock.scale()) < now

  const read = (oneTime: boolean, resource: (purchase: Purchase) => object) =>
    signedIn(
      Effect.gen(function* () {
        const { purchase, refusal } = yield* asked
        if (purchase === undefined) return refusal
        if (purchase.terms.one_time !== oneTime) return problem(404, "purchaseTokenNotFound")
        if (isGone(purchase, yield* clock.now)) return problem(410, "purchaseTokenNoLongerValid")
        return json(resource((yield* isAboutAnotherApp) ? ofAnotherApp(purchase) : purchase))
      })
    )

  const done = (family: "subscriptions" | "subscriptionsv2" | "products") =>
    signedIn(
      Effect.gen(function* () {
        const { purchase, refusal, verb } = yield* asked
        if (purchase === undefined) return refusal
        const deed = verbs[`${family}:${verb}`]
        if (deed === undefined || purchase.terms.one_time !== (family === "products")) return problem(404, "notFound")
        return yield* Effect.match(books.deed(purchase.token, deed), {
          onSuccess: () => json({}),
          onFailure: () => problem(400, "invalidPurchaseState")
        })
      })
    )

  const listVoided = signedIn(
    Effect.gen(function* () {
      const { package: packageName } = yield* HttpRouter.params
      const { originalUrl } = yield* HttpServerRequest.HttpServerRequest
      const query = new URL(originalUrl, "http://simulator").searchParams
      const number = (name: string, fallback: number) => Number(query.get(name) ?? fallback)
      const [from, to] = [number("startTime", 0), number("endTime", Infinity)]
      const withSubscriptions = query.get("type") === "1"
      const withParts = query.get("includeQuantityBasedPartialRefund") === "true"
      const most = Math.min(mostVoided, Math.max(1, number("maxResults", mostVoided)))
      const start = Number(/^after-(\d{1,9})$/.exec(query.get("token") ?? "")?.[1] ?? 0)
      const all = books.voided.filter(
        ({ at, purchase, quantity }) =>
          purchase.terms.package_name === packageName &&
          from <= at &&
          at <= to &&
          (withSubscriptions || purchase.terms.one_time) &&
          (withParts || quantity === undefined)
      )
      const end = start + most
      return json({
        voidedPurchases: all.slice(start, end).map(({ at, orderId, purchase, quantity, reason, source }) => ({
          kind: "androidpublisher#voidedPurchase",
          purchaseToken: purchase.token,
          orderId,
          purchaseTimeMillis: String(purchase.startTime),
          voidedTimeMillis: String(at),
          voidedSource: source,
          voidedReason: reason,
          ...(quantity === undefined ? {} : { voidedQuantity: quantity })
        })),
        ...(end < all.length ? { tokenPagination: { nextPageToken: `after-${end}` } } : {})
      })
    })
  )

  const prefix = "/androidpublisher/v3/applications/:package/purchases"
  return HttpRouter.empty.pipe(
    HttpRouter.post("/token", accounts.token),
    HttpRouter.get("/oauth2/v3/certs", Effect.succeed(json(jwks))),
    HttpRouter.get(`${prefix}/subscriptionsv2/tokens/:token`, read(false, subscriptionResource)),
    HttpRouter.get(`${prefix}/productsv2/tokens/:token`, read(true, productResource)),
    HttpRouter.get(`${prefix}/products/:product/tokens/:token`, read(true, olderProductResource)),
    HttpRouter.get(`${prefix}/voidedpurchases`, listVoided),
    HttpRouter.post(`${prefix}/subscriptions/:product/tokens/:token`, done("subscriptions")),
    HttpRouter.post(`${prefix}/subscriptions/tokens/:token`, done("subscriptions")),
    HttpRouter.post(`${prefix}/subscriptionsv2/tokens/:token`, done("subscriptionsv2")),
    HttpRouter.post(`${prefix}/products/:product/tokens/:token`, done("products"))
  )
}
