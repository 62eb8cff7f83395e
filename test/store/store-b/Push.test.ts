import { assert, describe, it } from "@effect/vitest"
import { assertNone, assertSome, strictEqual } from "@effect/vitest/utils"
import { Either, FastCheck, Option } from "effect"
import { readPush } from "../../../src/store/store-b/Push.ts"

const push = (notification: unknown, packageName = "com.example.notes") =>
  readPush({
    messageId: "7",
    data: Buffer.from(JSON.stringify(notification)).toString("base64"),
    packageName: Option.some(packageName)
  })

const told = (what: object) =>
  Either.getOrThrow(
    push({ version: "1.0", packageName: "com.example.notes", eventTimeMillis: "1767225600000", ...what })
  )

const subscription = (notificationType: number) =>
  told({ subscriptionNotification: { version: "1.0", notificationType, purchaseToken: "t" } })

describe("pushes of store B", () => {
  it.each([
    [1, "SUBSCRIPTION_RECOVERED", "recovered"],
    [2, "SUBSCRIPTION_RENEWED", "renewed"],
    [3, "SUBSCRIPTION_CANCELED", "renewal_disabled"],
    [4, "SUBSCRIPTION_PURCHASED", "purchased"],
    [5, "SUBSCRIPTION_ON_HOLD", "renewal_failed"],
    [6, "SUBSCRIPTION_IN_GRACE_PERIOD", "renewal_failed"],
    [7, "SUBSCRIPTION_RESTARTED", "renewal_enabled"],
    [8, "SUBSCRIPTION_PRICE_CHANGE_CONFIRMED", "price_change"],
    [9, "SUBSCRIPTION_DEFERRED", "extended"],
    [10, "SUBSCRIPTION_PAUSED", "observed"],
    [11, "SUBSCRIPTION_PAUSE_SCHEDULE_CHANGED", "pause_schedule_changed"],
    [12, "SUBSCRIPTION_REVOKED", "revoked"],
    [13, "SUBSCRIPTION_EXPIRED", "expired"],
    [17, "SUBSCRIPTION_ITEMS_CHANGED", "observed"],
    [18, "SUBSCRIPTION_CANCELLATION_SCHEDULED", "observed"],
    [19, "SUBSCRIPTION_PRICE_CHANGE_UPDATED", "price_change"],
    [20, "SUBSCRIPTION_PENDING_PURCHASE_CANCELED", "expired"],
    [22, "SUBSCRIPTION_PRICE_STEP_UP_CONSENT_UPDATED", "price_change"],
    [99, "SUBSCRIPTION_99", "observed"]
  ])("subscription notification %i is %s", (code, type, kind) => {
    const read = subscription(code)
    strictEqual(read.type, type)
    assertSome(
      Option.map(read.subject, (subject) => `${subject.type} ${subject.kind} ${subject.purchaseToken}`),
      `subscription ${kind} t`
    )
  })

  it("one-time products, voids, reviews and tests", () => {
    const oneTime = told({ oneTimeProductNotification: { notificationType: 1, purchaseToken: "t", sku: "coins" } })
    strictEqual(oneTime.type, "ONE_TIME_PRODUCT_PURCHASED")
    assertSome(
      Option.map(oneTime.subject, ({ type }) => type),
      "one_time"
    )
    const voided = (more: object) =>
      told({ voidedPurchaseNotification: { purchaseToken: "t", orderId: "GPA.1", productType: 2, ...more } })
    assertSome(
      Option.flatMap(voided({ refundType: 1 }).subject, ({ voidedOrder }) => voidedOrder),
      "GPA.1"
    )
    assertNone(Option.flatMap(voided({ refundType: 2 }).subject, ({ voidedOrder }) => voidedOrder))
    for (const what of [{ testNotification: {} }, { pendingRefundReviewNotification: {} }, { invented: {} }]) {
      assertNone(told(what).subject)
    }
    strictEqual(told({ testNotification: {} }).type, "TEST")
  })

  it("a push for another package speaks of nothing of ours", () => {
    const body = {
      packageName: "com.example.notes",
      eventTimeMillis: 1767225600000,
      subscriptionNotification: { notificationType: 4, purchaseToken: "t" }
    }
    const foreign = Either.getOrThrow(push(body, "com.example.other"))
    assert.isTrue(foreign.isForeign)
    assertNone(foreign.subject)
    assert.isFalse(Either.getOrThrow(push(body)).isForeign)
    const data = Buffer.from(JSON.stringify(body)).toString("base64")
    assert.isTrue(Either.getOrThrow(readPush({ messageId: "7", data, packageName: Option.none() })).isForeign)
  })

  it("says what is malformed by field", () => {
    for (const wrong of [{}, { packageName: "a" }, { packageName: "a", eventTimeMillis: "soon" }, 7, null]) {
      strictEqual(Option.getOrThrow(Either.getLeft(push(wrong))).field, "message.data")
    }
  })

  it.prop("whatever is pushed is read or refused", [FastCheck.string()], ([data]) => {
    assert.isTrue(Either.isLeft(readPush({ messageId: "7", data, packageName: Option.none() })))
  })
})
