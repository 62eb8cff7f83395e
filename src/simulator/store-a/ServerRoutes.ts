import { createPublicKey, type KeyObject } from "node:crypto"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Clock, Effect, Option, Schema } from "effect"
import { jwtVerify } from "jose"
import { body, json } from "../SimulatorServer.ts"
import { type Purchase, renewalPayload, transactionPayload } from "./Purchase.ts"
import type { SigningAuthority } from "./SigningAuthority.ts"

/** A key of the Server API, as the store's console hands it out. */
export const NewKey = Schema.Struct({
  issuer_id: Schema.NonEmptyString,
  key_id: Schema.NonEmptyString,
  bundle_id: Schema.NonEmptyString,
  private_key: Schema.NonEmptyString
})

/** The next answers of the Server API to requests whose path holds `path`. */
export const NewFailure = Schema.Struct({
  path: Schema.optionalWith(Schema.String, { default: () => "/inApps/" }),
  kind: Schema.optionalWith(Schema.Literal("answer", "hang"), { default: () => "answer" as const }),
  status: Schema.optionalWith(Schema.Int, { default: () => 500 }),
  body: Schema.optionalWith(Schema.Unknown, { default: () => ({ errorCode: 5000000, errorMessage: "Internal." }) }),
  headers: Schema.optionalWith(Schema.Record({ key: Schema.String, value: Schema.String }), { default: () => ({}) }),
  times: Schema.optionalWith(Schema.Int, { default: () => 1 })
})

export interface SentNotification {
  readonly signedDate: number
  readonly signedPayload: string
  readonly bundleId: string
  readonly environment: Purchase["terms"]["environment"]
}

/** What the Server API tells of; shared with the control routes. `periods` are all that were sold, oldest first. */
export interface Books {
  readonly purchases: ReadonlyMap<string, Purchase>
  readonly periods: ReadonlyArray<Purchase>
  readonly sent: ReadonlyArray<SentNotification>
  readonly testOf: (
    bundleId: string,
    environment: SentNotification["environment"]
  ) => Effect.Effect<Option.Option<string>>
  readonly tested: ReadonlyMap<string, { readonly signedPayload: string; readonly result: string; readonly at: number }>
}

interface Key {
  readonly issuerId: string
  readonly bundleId: string
  readonly publicKey: KeyObject
}

const refusal = (errorCode: number, errorMessage: string) =>
  json({ errorCode, errorMessage }, Math.floor(errorCode / 1e4))
const transactionUnknown = refusal(4040010, "Transaction id not found.")
const unauthenticated = HttpServerResponse.text("Unauthenticated\n\nRequest ID: simulated", { status: 401 })
const pageSize = 20
const longestToken = 3600

/** The keys, scripted failures and requests of one simulator, and its Server API for each environment. */
export const make = (authority: SigningAuthority, books: Books) => {
  const keys = new Map<string, Key>()
  const failures: Array<{ -readonly [Field in keyof typeof NewFailure.Type]: (typeof NewFailure.Type)[Field] }> = []
  const requests: Array<string> = []

  const bundleOf = (authorization: string | undefined) =>
    Effect.tryPromise(async () => {
      const token = authorization?.replace(/^Bearer /, "") ?? ""
      const { payload } = await jwtVerify(
        token,
        ({ kid }) => {
          const key = keys.get(kid ?? "")
          return key === undefined ? Promise.reject(new Error("unknown key")) : key.publicKey
        },
        { algorithms: ["ES256"], audience: "appstoreconnect-v1", requiredClaims: ["iat", "exp", "iss", "bid"] }
      )
      const known = [...keys.values()].some(
        ({ bundleId, issuerId }) => bundleId === payload["bid"] && issuerId === payload.iss
      )
      const life = (payload.exp ?? Infinity) - (payload.iat ?? 0)
      return known && life <= longestToken ? Option.some(String(payload["bid"])) : Option.none<string>()
    }).pipe(Effect.orElseSucceed(() => Option.none<string>()))

  const scripted = (url: string) => {
    const failure = failures.find(({ path, times }) => times > 0 && url.includes(path))
    if (failure === undefined) return Option.none()
    failure.times -= 1
    return Option.some(
      failure.kind === "hang"
        ? Effect.never
        : Effect.succeed(
            HttpServerResponse.unsafeJson(failure.body, { status: failure.status, headers: failure.headers })
          )
    )
  }

  const answering = <E, R>(answer: (bundleId: string) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
    Effect.gen(function* () {
      const { headers, originalUrl } = yield* HttpServerRequest.HttpServerRequest
      requests.push(originalUrl)
      const failure = scripted(originalUrl)
      if (Option.isSome(failure)) return yield* failure.value
      const bundleId = yield* bundleOf(headers["authorization"])
      return Option.isSome(bundleId) ? yield* answer(bundleId.value) : unauthenticated
    })

  const routes = (environment: Purchase["terms"]["environment"]) => {
    const mine = (bundleId: string) => (purchase: Purchase) =>
      purchase.terms.environment === environment && purchase.terms.bundle_id === bundleId

    const found = (bundleId: string) =>
      Effect.map(HttpRouter.params, ({ id }) =>
        books.periods.findLast((period) => period.transactionId === id && mine(bundleId)(period))
      )

    const signed = (purchase: Purchase, payload: typeof transactionPayload | typeof renewalPayload) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => authority.sign(payload(purchase, now)))

    const pageFrom = <A>(all: ReadonlyArray<A>, token: string | null) => {
      const start = Number(token ?? 0)
      const end = start + pageSize
      return { items: all.slice(start, end), next: String(end), hasMore: end < all.length }
    }

    const query = Effect.map(
      HttpServerRequest.HttpServerRequest,
      ({ originalUrl }) => new URL(originalUrl, "http://simulator").searchParams
    )

    return HttpRouter.empty.pipe(
      HttpRouter.get(
        "/inApps/v1/transactions/:id",
        answering((bundleId) =>
          Effect.gen(function* () {
            const period = yield* found(bundleId)
            if (period === undefined) return transactionUnknown
            return json({ signedTransactionInfo: yield* signed(period, transactionPayload) })
          })
        )
      ),
      HttpRouter.get(
        "/inApps/v1/subscriptions/:id",
        answering((bundleId) =>
          Effect.gen(function* () {
            const period = yield* found(bundleId)
            const purchase = books.purchases.get(period?.originalTransactionId ?? "")
            if (purchase === undefined) return transactionUnknown
            const { originalTransactionId, status } = purchase
            const signedTransactionInfo = yield* signed(purchase, transactionPayload)
            const signedRenewalInfo = yield* signed(purchase, renewalPayload)
            const lastTransactions = [{ status, originalTransactionId, signedTransactionInfo, signedRenewalInfo }]
            const data = [{ subscriptionGroupIdentifier: "simulated", lastTransactions }]
            return json({ environment, bundleId, data })
          })
        )
      ),
      HttpRouter.get(
        "/inApps/v2/history/:id",
        answering((bundleId) =>
          Effect.gen(function* () {
            const period = yield* found(bundleId)
            if (period === undefined) return transactionUnknown
            const chain = books.periods.filter(
              ({ originalTransactionId }) => originalTransactionId === period.originalTransactionId
            )
            const { hasMore, items, next } = pageFrom(chain, (yield* query).get("revision"))
            const signedTransactions = yield* Effect.forEach(items, (one) => signed(one, transactionPayload))
            return json({ environment, bundleId, revision: next, hasMore, signedTransactions })
          })
        )
      ),
      HttpRouter.post(
        "/inApps/v1/notifications/history",
        answering((bundleId) =>
          Effect.gen(function* () {
            const range = yield* body(Schema.Struct({ startDate: Schema.Number, endDate: Schema.Number }))
            const inside = books.sent.filter(
              (one) =>
                one.environment === environment &&
                one.bundleId === bundleId &&
                range.startDate <= one.signedDate &&
                one.signedDate <= range.endDate
            )
            const { hasMore, items, next } = pageFrom(inside, (yield* query).get("paginationToken"))
            const notificationHistory = items.map(({ signedPayload }) => ({ signedPayload, sendAttempts: [] }))
            return json({ hasMore, ...(hasMore ? { paginationToken: next } : {}), notificationHistory })
          })
        )
      ),
      HttpRouter.post(
        "/inApps/v1/notifications/test",
        answering((bundleId) =>
          Effect.map(
            books.testOf(bundleId, environment),
            Option.match({
              onNone: () => refusal(4040007, "No App Store Server Notification URL found."),
              onSome: (testNotificationToken) => json({ testNotificationToken })
            })
          )
        )
      ),
      HttpRouter.get(
        "/inApps/v1/notifications/test/:id",
        answering(() =>
          Effect.map(HttpRouter.params, ({ id = "" }) => {
            const test = books.tested.get(id)
            if (test === undefined) return refusal(4040008, "Test notification token not found.")
            const sendAttempts = [{ attemptDate: test.at, sendAttemptResult: test.result }]
            return json({ signedPayload: test.signedPayload, sendAttempts })
          })
        )
      )
    )
  }

  const control = HttpRouter.empty.pipe(
    HttpRouter.post(
      "/_control/keys",
      Effect.gen(function* () {
        const key = yield* body(NewKey)
        const publicKey = createPublicKey(key.private_key)
        keys.set(key.key_id, { issuerId: key.issuer_id, bundleId: key.bundle_id, publicKey })
        return json({ key_id: key.key_id }, 201)
      })
    ),
    HttpRouter.del(
      "/_control/keys/:id",
      Effect.map(HttpRouter.params, ({ id = "" }) => json({ deleted: keys.delete(id) }))
    ),
    HttpRouter.post(
      "/_control/failures",
      Effect.map(body(NewFailure), (failure) => {
        failures.push({ ...failure })
        return json(failure, 201)
      })
    ),
    HttpRouter.get(
      "/_control/requests",
      Effect.sync(() => json(requests))
    )
  )

  return HttpRouter.concatAll(control, routes("Production"), HttpRouter.prefixAll(routes("Sandbox"), "/sandbox"))
}
