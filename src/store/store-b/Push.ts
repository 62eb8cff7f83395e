import { Either, Option, Record, Schema } from "effect"
import type { FactKind } from "../domain/PurchaseFact.ts"
import { PushMalformed, type PushSubject, type StorePush } from "../StoreB.ts"

/** Documented as a number, sent as text: both are taken. */
const EventTime = Schema.Union(Schema.NumberFromString, Schema.Number).pipe(
  Schema.compose(Schema.DateTimeUtcFromNumber)
)

const Told = Schema.Struct({ notificationType: Schema.Int, purchaseToken: Schema.NonEmptyString })

/** `DeveloperNotification`. Members that we do not know are let through. */
const DeveloperNotification = Schema.parseJson(
  Schema.Struct({
    packageName: Schema.NonEmptyString,
    eventTimeMillis: EventTime,
    subscriptionNotification: Schema.optional(Told),
    oneTimeProductNotification: Schema.optional(Told),
    voidedPurchaseNotification: Schema.optional(
      Schema.Struct({
        purchaseToken: Schema.NonEmptyString,
        orderId: Schema.NonEmptyString,
        productType: Schema.optional(Schema.Int),
        refundType: Schema.optional(Schema.Int)
      })
    ),
    pendingRefundReviewNotification: Schema.optional(Schema.Unknown),
    testNotification: Schema.optional(Schema.Unknown)
  })
)
type DeveloperNotification = typeof DeveloperNotification.Type

interface Meaning {
  readonly name: string
  readonly kind: FactKind
}

const subscriptionTypes: { readonly [code: string]: Meaning } = {
  1: { name: "SUBSCRIPTION_RECOVERED", kind: "recovered" },
  2: { name: "SUBSCRIPTION_RENEWED", kind: "renewed" },
  3: { name: "SUBSCRIPTION_CANCELED", kind: "renewal_disabled" },
  4: { name: "SUBSCRIPTION_PURCHASED", kind: "purchased" },
  5: { name: "SUBSCRIPTION_ON_HOLD", kind: "renewal_failed" },
  6: { name: "SUBSCRIPTION_IN_GRACE_PERIOD", kind: "renewal_failed" },
  7: { name: "SUBSCRIPTION_RESTARTED", kind: "renewal_enabled" },
  8: { name: "SUBSCRIPTION_PRICE_CHANGE_CONFIRMED", kind: "price_change" },
  9: { name: "SUBSCRIPTION_DEFERRED", kind: "extended" },
  10: { name: "SUBSCRIPTION_PAUSED", kind: "observed" },
  11: { name: "SUBSCRIPTION_PAUSE_SCHEDULE_CHANGED", kind: "pause_schedule_changed" },
  12: { name: "SUBSCRIPTION_REVOKED", kind: "revoked" },
  13: { name: "SUBSCRIPTION_EXPIRED", kind: "expired" },
  17: { name: "SUBSCRIPTION_ITEMS_CHANGED", kind: "observed" },
  18: { name: "SUBSCRIPTION_CANCELLATION_SCHEDULED", kind: "observed" },
  19: { name: "SUBSCRIPTION_PRICE_CHANGE_UPDATED", kind: "price_change" },
  20: { name: "SUBSCRIPTION_PENDING_PURCHASE_CANCELED", kind: "expired" },
  22: { name: "SUBSCRIPTION_PRICE_STEP_UP_CONSENT_UPDATED", kind: "price_change" }
}

const oneTimeTypes: { readonly [code: string]: Meaning } = {
  1: { name: "ONE_TIME_PRODUCT_PURCHASED", kind: "purchased" },
  2: { name: "ONE_TIME_PRODUCT_CANCELED", kind: "observed" }
}

/** Numbers that we do not know are read back like the others: the store says what became of the purchase. */
const meaningOf = (types: { readonly [code: string]: Meaning }, family: string, code: number): Meaning =>
  Option.getOrElse(Record.get(types, String(code)), () => ({ name: `${family}_${code}`, kind: "observed" as const }))

const oneTimeProduct = 2

const subjectOf = (
  notification: DeveloperNotification
): { readonly type: string; readonly subject: Option.Option<PushSubject> } => {
  const { oneTimeProductNotification, subscriptionNotification, voidedPurchaseNotification } = notification
  if (subscriptionNotification !== undefined) {
    const { notificationType, purchaseToken } = subscriptionNotification
    const { kind, name } = meaningOf(subscriptionTypes, "SUBSCRIPTION", notificationType)
    const subject = { purchaseToken, type: "subscription" as const, kind, voidedOrder: Option.none<string>() }
    return { type: name, subject: Option.some(subject) }
  }
  if (oneTimeProductNotification !== undefined) {
    const { notificationType, purchaseToken } = oneTimeProductNotification
    const { kind, name } = meaningOf(oneTimeTypes, "ONE_TIME_PRODUCT", notificationType)
    const subject = { purchaseToken, type: "one_time" as const, kind, voidedOrder: Option.none<string>() }
    return { type: name, subject: Option.some(subject) }
  }
  if (voidedPurchaseNotification !== undefined) {
    const { orderId, productType, purchaseToken, refundType } = voidedPurchaseNotification
    const isPartial = refundType !== undefined && refundType !== 1
    const subject = {
      purchaseToken,
      type: productType === oneTimeProduct ? ("one_time" as const) : ("subscription" as const),
      kind: "observed" as const,
      voidedOrder: isPartial ? Option.none<string>() : Option.some(orderId)
    }
    return { type: "VOIDED_PURCHASE", subject: Option.some(subject) }
  }
  if (notification.pendingRefundReviewNotification !== undefined) {
    return { type: "PENDING_REFUND_REVIEW", subject: Option.none() }
  }
  return { type: notification.testNotification === undefined ? "UNKNOWN" : "TEST", subject: Option.none() }
}

const base64 = /^[A-Za-z0-9+/_-]+={0,2}$/

/**
 * What a push message carries: base64 of the store's notification, `packageName` its own name of the app. A push for
 * another package is genuine but never ours.
 */
export const readPush = (message: {
  readonly messageId: string
  readonly data: string
  readonly packageName: Option.Option<string>
}): Either.Either<StorePush, PushMalformed> => {
  const wrong = (sentence: string) => new PushMalformed({ field: "message.data", sentence })
  if (!base64.test(message.data)) return Either.left(wrong("must be base64"))
  const text = Buffer.from(message.data, "base64").toString("utf8")
  return Schema.decodeEither(DeveloperNotification)(text).pipe(
    Either.mapLeft(() => wrong("must be a developer notification in JSON")),
    Either.map((notification) => {
      const { subject, type } = subjectOf(notification)
      const isForeign = !Option.contains(message.packageName, notification.packageName)
      return {
        notificationId: message.messageId,
        type,
        eventAt: notification.eventTimeMillis,
        isForeign,
        subject: isForeign ? Option.none() : subject
      }
    })
  )
}
