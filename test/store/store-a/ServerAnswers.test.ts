import { it } from "@effect/vitest"
import { assertTrue, deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { Duration, FastCheck } from "effect"
import { failureOf } from "../../../src/store/store-a/ServerAnswers.ts"

const now = 1_800_000_000_000
const answer = (status: number, errorCode?: number, retryAfter?: string) => ({
  status,
  body: errorCode === undefined ? "" : JSON.stringify({ errorCode, errorMessage: "words" }),
  retryAfter
})

it.prop(
  "every answer has a meaning, and no 5xx ever says that a purchase does not exist",
  [FastCheck.integer({ min: 201, max: 599 }), FastCheck.string(), FastCheck.option(FastCheck.string())],
  ([status, body, retryAfter]) => {
    const failure = failureOf({ status, body, retryAfter: retryAfter ?? undefined }, now)
    assertTrue(status < 500 || failure._tag === "StoreDown")
    assertTrue(failure._tag !== "PurchaseUnknown")
  }
)

it.prop(
  "a pause is the wait until the moment that the store names, from a second to an hour",
  [FastCheck.integer({ min: -1e9, max: 1e9 })],
  ([ahead]) => {
    const failure = failureOf(answer(429, 4290000, String(now + ahead)), now)
    strictEqual(failure._tag, "StoreLimited")
    if (failure._tag === "StoreLimited") {
      strictEqual(Duration.toMillis(failure.retryAfter), Math.min(Math.max(ahead, 1000), 3_600_000))
    }
  }
)

it("the store's numbers decide between no purchase, later, and nonsense", () => {
  const tags = [4040010, 4000006, 4040002, 4040004, 4040006, 4040003].map(
    (code) => failureOf(answer(404, code), now)._tag
  )
  deepStrictEqual(tags, [
    "PurchaseUnknown",
    "PurchaseUnknown",
    "StoreDown",
    "StoreDown",
    "StoreDown",
    "StoreAnswerWrong"
  ])
  deepStrictEqual(
    [401, 403, 418, 500].map((status) => failureOf(answer(status), now)._tag),
    ["CredentialRejected", "CredentialRejected", "StoreAnswerWrong", "StoreDown"]
  )
})
