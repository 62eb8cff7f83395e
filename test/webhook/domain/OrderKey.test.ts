import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { orderKeyOf } from "../../../src/webhook/domain/OrderKey.ts"

describe("the key of an order", () => {
  it("is the chat's or the customer's", () => {
    assert.strictEqual(orderKeyOf({ chat_id: "pb:1", body: "x" }), "pb:1")
    assert.strictEqual(orderKeyOf({ app_user_id: "ann", data: { chat_id: "pb:1" } }), "ann")
    assert.strictEqual(orderKeyOf({ app_user_id: null }), "")
  })

  it.prop("is one for whatever names neither", [FastCheck.anything()], ([data]) => {
    assert.strictEqual(orderKeyOf([data]), "")
    assert.strictEqual(orderKeyOf({ data }), "")
  })
})
