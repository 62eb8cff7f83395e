import { HttpClient, HttpClientRequest, type HttpClientResponse } from "@effect/platform"
import {
  Cache,
  Chunk,
  Clock,
  Context,
  Data,
  Duration,
  Effect,
  Layer,
  Option,
  Redacted,
  type Schema,
  Stream
} from "effect"
import { importPKCS8, SignJWT } from "jose"
import type { Environment } from "../domain/PurchaseFact.ts"
import type { StoreAAccess } from "../StoreAPurchases.ts"
import { CredentialRejected, type PurchaseUnknown, StoreDown, type StoreTrouble } from "../StoreTrouble.ts"
import {
  decodeAnswer,
  errorCodeOf,
  failureOf,
  noNotificationUrl,
  NotificationHistory,
  type ServerAnswer,
  Statuses,
  TestRequested,
  TestStatus,
  TransactionHistory,
  TransactionInfo
} from "./ServerAnswers.ts"

/** The store's own addresses (developer.apple.com, "App Store Server API"). */
export const storeAUrls = {
  production: "https://api.storekit.apple.com",
  sandbox: "https://api.storekit-sandbox.apple.com"
} as const

/** Nobody told the store where to push notifications to. */
export class NoNotificationUrl extends Data.TaggedError("NoNotificationUrl")<{}> {}

/** With what key, and in which of the store's two worlds. */
export interface Place {
  readonly access: StoreAAccess
  readonly environment: Environment
}

type Failure = PurchaseUnknown | StoreTrouble

/**
 * The App Store Server API. Nothing that it answers is verified here: payloads are compact JWS as sent. Every call ends
 * within ten seconds.
 */
export class StoreAServer extends Context.Tag("gatehouse/store/store-a/StoreAServer")<
  StoreAServer,
  {
    /** One transaction: renewals have other ids. */
    readonly transaction: (place: Place, transactionId: string) => Effect.Effect<string, Failure>
    /** The newest transaction of every chain of the customer to whom any transaction belongs. */
    readonly statuses: (place: Place, transactionId: string) => Effect.Effect<typeof Statuses.Type, Failure>
    /** Every transaction of that customer, page by page. */
    readonly history: (place: Place, transactionId: string) => Stream.Stream<string, Failure>
    /** What the store pushed or tried to, from one moment to another in milliseconds since 1970. */
    readonly notifications: (
      place: Place,
      range: { readonly startDate: number; readonly endDate: number }
    ) => Stream.Stream<string, Failure>
    /** Answers the token that names the test. */
    readonly requestTest: (place: Place) => Effect.Effect<string, Failure | NoNotificationUrl>
    readonly testStatus: (place: Place, token: string) => Effect.Effect<typeof TestStatus.Type, Failure>
  }
>() {}

const tokenLife = Duration.minutes(30)
const renewBefore = Duration.minutes(5)
const patience = "10 seconds"

const segment = encodeURIComponent

/** Signs what the store asks for: ES256, at most an hour; one token serves until it is nearly over. */
const makeTokens = Cache.make({
  capacity: 256,
  timeToLive: Duration.subtract(tokenLife, renewBefore),
  lookup: ({ bundleId, issuerId, keyId, privateKey }: StoreAAccess) =>
    Effect.gen(function* () {
      const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
      return yield* Effect.tryPromise({
        try: async () =>
          Redacted.make(
            await new SignJWT({ bid: bundleId })
              .setProtectedHeader({ alg: "ES256", kid: keyId, typ: "JWT" })
              .setIssuer(issuerId)
              .setAudience("appstoreconnect-v1")
              .setIssuedAt(now)
              .setExpirationTime(now + Duration.toSeconds(tokenLife))
              .sign(await importPKCS8(Redacted.value(privateKey), "ES256"))
          ),
        catch: () => new CredentialRejected({ detail: "the private key cannot sign" })
      })
    })
})

export const layer = (urls: { readonly [World in Environment]: string }) =>
  Layer.effect(
    StoreAServer,
    Effect.gen(function* () {
      const client = yield* HttpClient.HttpClient
      const tokens = yield* makeTokens

      const answerOf = Effect.fn("StoreAServer.answerOf")(function* (
        { access, environment }: Place,
        request: HttpClientRequest.HttpClientRequest
      ) {
        const token = yield* tokens.get(Data.struct(access))
        const read = (response: HttpClientResponse.HttpClientResponse) =>
          Effect.map(response.text, (body): ServerAnswer => {
            return { status: response.status, body, retryAfter: response.headers["retry-after"] }
          })
        return yield* request.pipe(
          HttpClientRequest.prependUrl(urls[environment]),
          HttpClientRequest.bearerToken(token),
          client.execute,
          Effect.flatMap(read),
          Effect.mapError(() => new StoreDown({ detail: "no answer" })),
          Effect.timeoutFail({ duration: patience, onTimeout: () => new StoreDown({ detail: "no answer in time" }) })
        )
      })

      const judged = Effect.fn("StoreAServer.judged")(function* <A, I>(
        answer: ServerAnswer,
        schema: Schema.Schema<A, I>
      ) {
        if (answer.status !== 200) return yield* failureOf(answer, yield* Clock.currentTimeMillis)
        return yield* decodeAnswer(schema, answer.body)
      })

      const call = <A, I>(place: Place, request: HttpClientRequest.HttpClientRequest, schema: Schema.Schema<A, I>) =>
        Effect.flatMap(answerOf(place, request), (answer) => judged(answer, schema))

      const pages = <A extends { readonly hasMore: boolean }, I, Item>(
        place: Place,
        request: (token: Option.Option<string>) => HttpClientRequest.HttpClientRequest,
        schema: Schema.Schema<A, I>,
        read: (page: A) => { readonly items: ReadonlyArray<Item>; readonly next: string | undefined }
      ) =>
        Stream.paginateChunkEffect(Option.none<string>(), (token) =>
          Effect.map(call(place, request(token), schema), (page) => {
            const { items, next } = read(page)
            const more = page.hasMore ? Option.fromNullable(next) : Option.none()
            return [Chunk.fromIterable(items), Option.map(more, Option.some)] as const
          })
        )

      const requestTest = Effect.fn("StoreAServer.requestTest")(function* (place: Place) {
        const answer = yield* answerOf(place, HttpClientRequest.post("/inApps/v1/notifications/test"))
        if (Option.contains(errorCodeOf(answer), noNotificationUrl)) return yield* new NoNotificationUrl()
        const { testNotificationToken } = yield* judged(answer, TestRequested)
        return testNotificationToken
      })

      return StoreAServer.of({
        transaction: (place, transactionId) =>
          Effect.map(
            call(place, HttpClientRequest.get(`/inApps/v1/transactions/${segment(transactionId)}`), TransactionInfo),
            ({ signedTransactionInfo }) => signedTransactionInfo
          ),
        statuses: (place, transactionId) =>
          call(place, HttpClientRequest.get(`/inApps/v1/subscriptions/${segment(transactionId)}`), Statuses),
        history: (place, transactionId) =>
          pages(
            place,
            (revision) =>
              HttpClientRequest.get(`/inApps/v2/history/${segment(transactionId)}`, {
                urlParams: Option.match(revision, { onNone: () => ({}), onSome: (known) => ({ revision: known }) })
              }),
            TransactionHistory,
            ({ revision, signedTransactions }) => ({ items: signedTransactions, next: revision })
          ),
        notifications: (place, range) =>
          pages(
            place,
            (token) =>
              HttpClientRequest.post("/inApps/v1/notifications/history", {
                urlParams: Option.match(token, { onNone: () => ({}), onSome: (known) => ({ paginationToken: known }) })
              }).pipe(HttpClientRequest.bodyUnsafeJson(range)),
            NotificationHistory,
            ({ notificationHistory, paginationToken }) => ({
              items: notificationHistory.map(({ signedPayload }) => signedPayload),
              next: paginationToken
            })
          ),
        requestTest,
        testStatus: (place, token) =>
          call(place, HttpClientRequest.get(`/inApps/v1/notifications/test/${segment(token)}`), TestStatus)
      })
    })
  )
