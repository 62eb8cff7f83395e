import { HttpRouter, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Effect, Option, Schema } from "effect"
import type { Attempt, makeCourier } from "../Courier.ts"
import { isAboutAnotherApp } from "../Script.ts"
import { json } from "../SimulatorServer.ts"
import { type Books, type Letter, ofAnotherApp } from "./Books.ts"
import type { makeKeys } from "./Keys.ts"
import { renewalPayload, transactionPayload } from "./Payloads.ts"
import { type Purchase, renews } from "./Purchase.ts"
import {
  historyOf,
  notificationsAsked,
  pageOf,
  refuse,
  type Sold,
  statusesOf,
  StoreRefused,
  transactionUnknown
} from "./Query.ts"
import type { SigningAuthority } from "./SigningAuthority.ts"

const unauthenticated = HttpServerResponse.text("Unauthenticated\n\nRequest ID: simulated", { status: 401 })

const resultOf = ({ status }: Attempt): string => {
  if (status === 0) return "NO_RESPONSE"
  return status >= 200 && status <= 206 ? "SUCCESS" : "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
}

const Extension = Schema.parseJson(
  Schema.Struct({
    extendByDays: Schema.Int.pipe(Schema.between(1, 90)),
    extendReasonCode: Schema.Literal(0, 1, 2, 3),
    requestIdentifier: Schema.NonEmptyString
  })
)

const query = Effect.map(
  HttpServerRequest.HttpServerRequest,
  ({ originalUrl }) => new URL(originalUrl, "http://simulator").searchParams
)

/** The Server API of one environment. */
export const serverRoutes = (
  environment: Purchase["terms"]["environment"],
  parts: {
    readonly authority: SigningAuthority
    readonly books: Books
    readonly courier: Effect.Effect.Success<ReturnType<typeof makeCourier<Letter>>>
    readonly keys: ReturnType<typeof makeKeys>
  }
) => {
  const { authority, books, courier, keys } = parts

  const answering = <E, R>(answer: (bundleId: string) => Effect.Effect<unknown, E | StoreRefused, R>) =>
    Effect.gen(function* () {
      const { headers } = yield* HttpServerRequest.HttpServerRequest
      const bundleId = yield* keys.bundleOf(headers["authorization"])
      if (Option.isNone(bundleId)) return unauthenticated
      return yield* Effect.match(answer(bundleId.value), {
        onSuccess: (value) => json(value),
        onFailure: (error) => {
          const { errorCode, errorMessage } = error instanceof StoreRefused ? error : refuse(5000000, "Internal.")
          return json({ errorCode, errorMessage }, Math.floor(errorCode / 1e4))
        }
      })
    })

  /** The chain that a transaction is of, brought up to date, and all of its customer's chains. */
  const found = Effect.fn("ServerRoutes.found")(function* (bundleId: string) {
    const { id = "" } = yield* HttpRouter.params
    if (!/^\d{1,20}$/.test(id)) return yield* refuse(4000006, "Invalid transaction id.")
    const mine = books.ofApp(bundleId, environment)
    const known = mine.find(({ transactions }) => transactions.some(({ transactionId }) => transactionId === id))
    if (known === undefined) return yield* transactionUnknown
    const account = known.terms.app_account_token
    const customers = mine.filter(
      (one) => one === known || (account !== undefined && one.terms.app_account_token === account)
    )
    const chains = yield* Effect.forEach(customers, ({ originalTransactionId }) => books.find(originalTransactionId))
    const all = chains.flatMap((chain) => (chain === undefined ? [] : [chain]))
    const sold = all.flatMap((purchase) =>
      purchase.transactions.map((transaction): Sold => ({ purchase, transaction }))
    )
    const shown = sold.find(({ transaction }) => transaction.transactionId === id)
    return shown === undefined ? yield* transactionUnknown : { id, all, sold, shown }
  })

  const about = Effect.fn("ServerRoutes.about")(function* (purchase: Purchase) {
    return (yield* isAboutAnotherApp) ? ofAnotherApp(purchase) : purchase
  })

  const signed = Effect.fn("ServerRoutes.signed")(function* ({ purchase, transaction }: Sold) {
    return yield* authority.sign(transactionPayload(yield* about(purchase), yield* books.signingTime, transaction))
  })

  const place = (bundleId: string, purchase?: Purchase) => ({
    environment,
    bundleId,
    ...(environment === "Production" && purchase !== undefined ? { appAppleId: purchase.terms.app_apple_id } : {})
  })

  const transactionInfo = answering((bundleId) =>
    Effect.gen(function* () {
      const { shown } = yield* found(bundleId)
      return { signedTransactionInfo: yield* signed(shown) }
    })
  )

  const statuses = answering((bundleId) =>
    Effect.gen(function* () {
      const { all, shown } = yield* found(bundleId)
      const wanted = yield* statusesOf(yield* query)
      const subscriptions = all.filter(
        (one) => renews(one) && (wanted.length === 0 || wanted.includes(String(one.status)))
      )
      const groups = [...new Set(subscriptions.map(({ terms }) => terms.group))]
      const last = (purchase: Purchase) =>
        Effect.gen(function* () {
          const { originalTransactionId, status, transactions } = purchase
          const transaction = transactions.at(-1) ?? transactions[0]
          const signedTransactionInfo = yield* signed({ purchase, transaction })
          const renewal = renewalPayload(yield* about(purchase), yield* books.signingTime)
          return {
            status,
            originalTransactionId,
            signedTransactionInfo,
            signedRenewalInfo: yield* authority.sign(renewal)
          }
        })
      const data = yield* Effect.forEach(groups, (group) =>
        Effect.map(
          Effect.forEach(
            subscriptions.filter(({ terms }) => terms.group === group),
            last
          ),
          (lastTransactions) => ({ subscriptionGroupIdentifier: group, lastTransactions })
        )
      )
      return { ...place(bundleId, shown.purchase), data }
    })
  )

  const history = (only: (sold: Sold) => boolean) =>
    answering((bundleId) =>
      Effect.gen(function* () {
        const { shown, sold } = yield* found(bundleId)
        const asked = yield* query
        const wanted = yield* historyOf(sold.filter(only), asked)
        const page = yield* pageOf(wanted, asked.get("revision"), refuse(4000005, "Invalid request revision."))
        const signedTransactions = yield* Effect.forEach(page.items, signed)
        return { ...place(bundleId, shown.purchase), revision: page.next, hasMore: page.hasMore, signedTransactions }
      })
    )

  const attemptsOf = ({ notificationUUID }: Letter) =>
    courier
      .attemptsOf(notificationUUID)
      .map((attempt) => ({ attemptDate: attempt.at, sendAttemptResult: resultOf(attempt) }))

  const notificationHistory = answering((bundleId) =>
    Effect.gen(function* () {
      const text = yield* Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => request.text)
      const asked = yield* notificationsAsked(text)
      const found = books.letters
        .filter(
          (letter) =>
            letter.environment === environment &&
            letter.bundleId === bundleId &&
            asked.startDate <= letter.signedDate &&
            letter.signedDate <= asked.endDate &&
            (asked.notificationType ?? letter.notificationType) === letter.notificationType &&
            (asked.notificationSubtype ?? letter.subtype) === letter.subtype &&
            (asked.transactionId === undefined || chainOf(asked.transactionId) === chainOf(letter.transactionId)) &&
            !(asked.onlyFailures === true && attemptsOf(letter).some((one) => one.sendAttemptResult === "SUCCESS"))
        )
        .toSorted((one, other) => one.signedDate - other.signedDate)
      const token = (yield* query).get("paginationToken")
      const page = yield* pageOf(found, token, refuse(4000014, "Invalid pagination token."))
      const notificationHistory = page.items.map((letter) => ({
        signedPayload: letter.signedPayload,
        sendAttempts: attemptsOf(letter)
      }))
      return { hasMore: page.hasMore, ...(page.hasMore ? { paginationToken: page.next } : {}), notificationHistory }
    })
  )

  const chainOf = (transactionId: string | undefined) =>
    [...books.purchases.values()].find(({ transactions }) =>
      transactions.some((one) => one.transactionId === transactionId)
    )?.originalTransactionId ?? "unknown"

  const requestTest = answering((bundleId) =>
    Effect.flatMap(
      books.test(bundleId, environment),
      Option.match({
        onNone: () => refuse(4040007, "No App Store Server Notification URL found."),
        onSome: (testNotificationToken) => Effect.succeed({ testNotificationToken })
      })
    )
  )

  const testStatus = answering((bundleId) =>
    Effect.gen(function* () {
      const { id = "" } = yield* HttpRouter.params
      const letter = books.letters.find(
        (one) => one.notificationUUID === id && one.notificationType === "TEST" && one.bundleId === bundleId
      )
      if (letter === undefined) return yield* refuse(4040008, "Test notification not found.")
      return { signedPayload: letter.signedPayload, sendAttempts: attemptsOf(letter) }
    })
  )

  const extend = answering((bundleId) =>
    Effect.gen(function* () {
      const { id, shown } = yield* found(bundleId)
      if (shown.purchase.originalTransactionId !== id) return yield* refuse(4000008, "Invalid original transaction id.")
      const text = yield* Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => request.text)
      const asked = yield* Effect.mapError(Schema.decode(Extension)(text), () =>
        refuse(4000009, "Invalid extend by days value.")
      )
      if (shown.purchase.sharedBy !== undefined) return yield* refuse(4030007, "Family members' are not extended.")
      const done = yield* Effect.mapError(
        books.deed(id, () => ({ _tag: "extend", length: `P${asked.extendByDays}D` })),
        () => refuse(4030004, "Forbidden - subscription state ineligible for extension.")
      )
      const now = yield* books.find(id)
      return {
        effectiveDate: now?.transactions.at(-1)?.expiresDate,
        originalTransactionId: id,
        success: done.purchase !== null,
        webOrderLineItemId: `9${now?.transactions.at(-1)?.transactionId ?? id}`
      }
    })
  )

  return HttpRouter.empty.pipe(
    HttpRouter.get("/inApps/v1/transactions/:id", transactionInfo),
    HttpRouter.get("/inApps/v1/subscriptions/:id", statuses),
    HttpRouter.put("/inApps/v1/subscriptions/extend/:id", extend),
    HttpRouter.get(
      "/inApps/v2/history/:id",
      history(() => true)
    ),
    HttpRouter.get(
      "/inApps/v2/refund/lookup/:id",
      history(({ transaction }) => transaction.revocation !== undefined)
    ),
    HttpRouter.post("/inApps/v1/notifications/history", notificationHistory),
    HttpRouter.post("/inApps/v1/notifications/test", requestTest),
    HttpRouter.get("/inApps/v1/notifications/test/:id", testStatus)
  )
}
