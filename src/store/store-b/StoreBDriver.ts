import { DateTime, Effect, Layer, Option } from "effect"
import type { App, AppId } from "../../catalog/domain/App.ts"
import { Credentials } from "../Credentials.ts"
import { type Acknowledgement, type PurchaseQuestion, StoreB, StoreFailure } from "../StoreB.ts"
import { NotificationRefused } from "../StoreNotifications.ts"
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
      const verify = makePushToken({ keysUrl: Option.getOrElse(options.pushKeysUrl, () => pushKeysUrl) })

      /** A push says nothing of its environment; an account reads purchases of both. */
      const accountOf = Effect.fn("StoreBDriver.accountOf")(function* (app: App) {
        const found = yield* credentials.storeB(app.id, "production")
        return Option.isSome(found) ? found : yield* credentials.storeB(app.id, "sandbox")
      })

      const accessOf = Effect.fn("StoreBDriver.accessOf")(function* (app: App) {
        const access = Option.flatMap(yield* accountOf(app), ({ account, packageName }) =>
          Option.map(
            Option.orElse(packageName, () => app.packageName),
            (name): Access => ({ account, packageName: name })
          )
        )
        return yield* Effect.mapError(
          access,
          () =>
            new StoreFailure({
              reason: "no_credential",
              detail: "the app has no credential of store_b",
              retryAfter: Option.none()
            })
        )
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
          yield* verify(message.authorization, { audience: audience.value, email })
        }
        const packageName = Option.orElse(
          Option.flatMap(account, (found) => found.packageName),
          () => app.packageName
        )
        const read = yield* readPush({ messageId: message.messageId, data: message.data, packageName })
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

      return StoreB.of({ push, purchase, voidedAt, acknowledge })
    })
  )
