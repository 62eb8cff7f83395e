import { assert, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { FastCheck } from "effect"
import { MessageStatus } from "../../../src/channel/domain/Message.ts"
import { stepsTo } from "../../../src/channel/domain/Receipt.ts"

const receipts = FastCheck.array(FastCheck.constantFrom("delivered" as const, "read" as const), { maxLength: 9 })

it.prop("any receipts, in any order and number, tell delivered once before read once", [receipts], ([seen]) => {
  let status: MessageStatus = "sent"
  const told: Array<string> = []
  for (const receipt of seen) {
    for (const step of stepsTo(status, receipt)) {
      status = step
      told.push(step)
    }
  }
  const expected = seen.includes("read") ? ["delivered", "read"] : seen.length > 0 ? ["delivered"] : []
  deepStrictEqual(told, expected)
})

it("what is not with the platform, or gone, is not moved by a receipt", () => {
  for (const status of ["queued", "sending", "failed", "deleted", "read"] as const) {
    assert.strictEqual(stepsTo(status, "read").length, 0)
  }
})
