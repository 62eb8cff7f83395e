import { DateTime, Effect, Layer, Option } from "effect"
import type { App, AppId } from "../../catalog/domain/App.ts"
import { Credentials } from "../Credentials.ts"
import {
  type Acknowledgement,
  type Origin,
  type PurchaseQuestion,
  StoreB,
  StoreFailure,
  type StorePurchase
} from "../StoreB.ts"
import { NotificationRefused } from "../StoreNotifications.ts"
import { awaitsAcknowledgement, ownOrigin, productFacts, subscriptionFact } from "./Facts.ts"
import { type Access, makePublisherApi, publisherUrl } from "./PublisherApi.ts"
import { readPush } from "./Push.ts"
import { makePushToken, pushKeysUrl } from "./PushToken.ts"
import type { SubscriptionResource } from "./Resources.ts"

/** `none` is the store's own address; `audience` none believes pushes without a token. */
export interface StoreBOptions {
  readonly apiUrl: Option.Option<string>
  readonly pushKeysUrl: Option.Option<string>
  readonly pushAudience: (app: AppId) => Option.Option<string>
  readonly pushEmail: Option.Option<string>
}

/** How far a purchase is followed over what it replaced: each step is a call. */
const longestLineage = 10
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

      /** Follows what a purchase replaced back to the first that is known or can be read. */
      const originOf = (
        access: Access,
        question: Pick<PurchaseQuestion, "originOf">,
        resource: SubscriptionResource,
        purchaseToken: string,
        steps: number
      ): Effect.Effect<Origin, StoreFailure> =>
        Effect.gen(function* () {
          const own = ownOrigin(resource, purchaseToken, yield* DateTime.now)
          const before = resource.linkedPurchaseToken
          if (before === undefined || steps === 0) return own
          const known = yield* question.originOf(before)
          if (Option.isSome(known)) return known.value
          return yield* api.subscription(access, before).pipe(
            Effect.flatMap((replaced) => originOf(access, question, replaced, before, steps - 1)),
            Effect.catchIf(
              ({ reason }) => reason === "not_found",
              () => Effect.succeed(own)
            )
          )
        })

      const subscription = Effect.fn("StoreBDriver.subscription")(function* (
        access: Access,
        question: PurchaseQuestion
      ) {
        const { factId, kind, purchaseToken, voided } = question
        const resource = yield* api.subscription(access, purchaseToken)
        const readAt = yield* DateTime.now
        const known = yield* question.originOf(purchaseToken)
        const origin = Option.isSome(known)
          ? known.value
          : yield* originOf(access, question, resource, purchaseToken, longestLineage)
        const voidedAt = (orderId: string) => Option.fromNullable(voided.get(orderId))
        const occasion = { factId, kind, purchaseToken, readAt, origin: Option.some(origin), voidedAt }
        const fact = subscriptionFact(resource, occasion)
        const isAwaited = awaitsAcknowledgement(resource.acknowledgementState, resource.subscriptionState)
        return {
          readAt,
          facts: Option.toArray(fact),
          origin,
          replaces: Option.fromNullable(resource.linkedPurchaseToken),
          awaitsAcknowledgement: Option.filter(Option.fromNullable(resource.lineItems[0]?.productId), () => isAwaited)
        } satisfies StorePurchase
      })

      const product = Effect.fn("StoreBDriver.product")(function* (access: Access, question: PurchaseQuestion) {
        const { factId, kind, purchaseToken, voided } = question
        const resource = yield* api.product(access, purchaseToken)
        const readAt = yield* DateTime.now
        const voidedAt = (orderId: string) => Option.fromNullable(voided.get(orderId))
        const facts = productFacts(resource, { factId, kind, purchaseToken, readAt, origin: Option.none(), voidedAt })
        const isAwaited = awaitsAcknowledgement(
          resource.acknowledgementState,
          resource.purchaseStateContext?.purchaseState
        )
        return {
          readAt,
          facts,
          origin: {
            originalTransactionId: facts[0]?.originalTransactionId ?? resource.orderId ?? factId,
            startedAt: resource.purchaseCompletionTime ?? readAt
          },
          replaces: Option.none(),
          awaitsAcknowledgement: Option.filter(
            Option.fromNullable(resource.productLineItem[0]?.productId),
            () => isAwaited
          )
        } satisfies StorePurchase
      })

      const purchase = Effect.fn("StoreBDriver.purchase")(function* (app: App, question: PurchaseQuestion) {
        const access = yield* accessOf(app)
        return yield* question.type === "subscription" ? subscription(access, question) : product(access, question)
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
