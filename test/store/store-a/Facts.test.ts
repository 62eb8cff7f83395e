import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Arbitrary, Option, Schema } from "effect"
import { NotificationPayload, RenewalPayload, TransactionPayload } from "../../../src/store/store-a/Payloads.ts"
import { factOf, kindOf } from "../../../src/store/store-a/Facts.ts"

const notification = Arbitrary.make(Schema.typeSchema(NotificationPayload))
const transaction = Arbitrary.make(Schema.typeSchema(TransactionPayload))
const renewal = Arbitrary.make(Schema.typeSchema(RenewalPayload))

describe("store A's facts", () => {
  it.prop("every decoded payload maps to a fact or to none", [notification, transaction, renewal], ([n, t, r]) => {
    const fact = factOf({ ...n, notificationType: "DID_RENEW" }, t, Option.some(r))
    assert.strictEqual(Option.isSome(fact), true)
    factOf(n, t, Option.none())
  })

  it("types that change no purchase map to none, subtypes refine", () => {
    for (const type of ["TEST", "CONSUMPTION_REQUEST", "REFUND_DECLINED", "RENEWAL_EXTENSION", "SOMETHING_NEW"]) {
      deepStrictEqual(kindOf(type, Option.none()), Option.none())
    }
    deepStrictEqual(kindOf("DID_RENEW", Option.some("BILLING_RECOVERY")), Option.some("recovered"))
    deepStrictEqual(kindOf("DID_RENEW", Option.some("SOMETHING_NEW")), Option.some("renewed"))
  })
})
