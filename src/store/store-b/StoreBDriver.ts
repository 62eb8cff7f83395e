import { DateTime, Effect, Layer, Option } from "effect"
import type { App, AppId } from "../../catalog/domain/App.ts"
import { Credentials, type StoreBAccount } from "../Credentials.ts"
import type { Environment } from "../domain/PurchaseFact.ts"
import { type Acknowledgement, type PurchaseQuestion, StoreB } from "../StoreB.ts"
import { NotificationRefused } from "../StoreNotifications.ts"
import { CredentialRejected, NoCredential } from "../StoreTrouble.ts"
import { type Access, makePublisherApi, publisherUrl } from "./PublisherApi.ts"
import { makePurchaseReader } from "./PurchaseReader.ts"
import { readPush } from "./Push.ts"
import { makePushToken, pushKeysUrl } from "./PushToken.ts"

/** `none` is the store's own address; `audience` none believes pushes without a token. */
export interface StoreBOptions {
  readonly apiUrl: Option.Option<string>
  readonly pushKeysUrl: Option.Option<string>
  readonly pushAudience: (app: AppId) => Option.Option<string>
  readonly pushEmail: Option.Option<string>
}

const voidedPages = 10

/**
 * Store B is Google Play: the Android Publisher API v3 and Real-time Developer Notifications, pushed by Pub/Sub
 * (developers.google.com, "Google Play Developer API"). A push is a hint only; facts are what the API answers.
 */
export const layer = (options: StoreBOptions) =>
  Layer.effect(
    StoreB,
    Effect.gen(function* () {
      const credentials = yield* Credentials
      const api = yield* makePublisherApi({ baseUrl: Option.getOrElse(options.apiUrl, () => publisherUrl) })
      const read = makePurchaseReader(api)
      const verifyToken = makePushToken({ keysUrl: Option.getOrElse(options.pushKeysUrl, () => pushKeysUrl) })

      /** A push says nothing of its environment; an account reads purchases of both. */
      const accountOf = Effect.fn("StoreBDriver.accountOf")(function* (app: App) {
        const found = yield* credentials.storeB(app.id, "production")
        return Option.isSome(found) ? found : yield* credentials.storeB(app.id, "sandbox")
      })

      const accessBy = (app: App, found: Option.Option<StoreBAccount>) =>
        Effect.mapError(
          Option.flatMap(found, ({ account, packageName }) =>
            Option.map(
              Option.orElse(packageName, () => app.packageName),
              (name): Access => ({ account, packageName: name })
            )
          ),
          () => new NoCredential()
        )

      const accessOf = (app: App) => Effect.flatMap(accountOf(app), (found) => accessBy(app, found))

      const packageOf = (app: App, account: Option.Option<StoreBAccount>) =>
        Option.orElse(
          Option.flatMap(account, ({ packageName }) => packageName),
          () => app.packageName
        )

      const readAgain = Effect.fn("StoreBDriver.readAgain")(function* (
        app: App,
        message: { readonly messageId: string; readonly data: string }
      ) {
        return yield* readPush({ ...message, packageName: packageOf(app, yield* accountOf(app)) })
      })

      const push = Effect.fn("StoreBDriver.push")(function* (
        app: App,
        message: {
          readonly authorization: Option.Option<string>
          readonly messageId: string
          readonly data: string
        }
      ) {
        const account = yield* accountOf(app)
        const audience = options.pushAudience(app.id)
        if (Option.isSome(audience)) {
          const email = Option.orElse(options.pushEmail, () =>
            Option.map(account, (found) => found.account.client_email)
          )
          yield* verifyToken(message.authorization, { audience: audience.value, email })
        }
        const read = yield* readPush({ ...message, packageName: packageOf(app, account) })
        const ahead = DateTime.add(yield* DateTime.now, { minutes: 5 })
        if (DateTime.greaterThan(read.eventAt, ahead)) {
          return yield* new NotificationRefused({ reason: "time", detail: "an event in the future" })
        }
        return read
      })

      const purchase = Effect.fn("StoreBDriver.purchase")(function* (app: App, question: PurchaseQuestion) {
        const access = yield* accessOf(app)
        return yield* read(access, question)
      })

      const voidedAt = Effect.fn("StoreBDriver.voidedAt")(function* (
        app: App,
        order: { readonly purchaseToken: string; readonly orderId: string; readonly since: DateTime.Utc }
      ) {
        const access = yield* accessOf(app)
        const since = DateTime.toEpochMillis(DateTime.subtract(order.since, { days: 1 }))
        let next = Option.none<string>()
        for (let page = 0; page < voidedPages; page++) {
          const { tokenPagination, voidedPurchases } = yield* api.voided(access, since, next)
          const found = voidedPurchases.find(
            ({ orderId, purchaseToken }) => orderId === order.orderId && purchaseToken === order.purchaseToken
          )
          if (found !== undefined) return Option.some(found.voidedTimeMillis)
          next = Option.fromNullable(tokenPagination?.nextPageToken)
          if (Option.isNone(next)) break
        }
        return Option.none()
      })

      const acknowledge = Effect.fn("StoreBDriver.acknowledge")(function* (app: App, what: Acknowledgement) {
        yield* api.acknowledge(yield* accessOf(app), what)
      })

      /** What was taken back in the last hour is little to read, and needs the same rights as a purchase. */
      const verify = Effect.fn("StoreBDriver.verify")(function* (app: App, environment: Environment) {
        const access = yield* accessBy(app, yield* credentials.storeB(app.id, environment))
        const since = DateTime.toEpochMillis(DateTime.subtract(yield* DateTime.now, { hours: 1 }))
        return yield* api.voided(access, since, Option.none()).pipe(
          Effect.as("The store accepts the credential and shows the app's purchases."),
          Effect.catchTag(
            "PurchaseUnknown",
            () => new CredentialRejected({ detail: "the store knows no such package of this account" })
          )
        )
      })

      return StoreB.of({ push, readAgain, purchase, voidedAt, acknowledge, verify })
    })
  )
