import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, FastCheck, Option, Redacted } from "effect"
import { Webhook } from "standardwebhooks"
import { takes } from "../../src/webhook/domain/EventFilter.ts"
import { isPublicAddress, urlProblem } from "../../src/webhook/domain/PublicAddress.ts"
import { delayAfter, nextDelay, retryAfter } from "../../src/webhook/domain/RetryTable.ts"
import { verdict } from "../../src/webhook/domain/Settle.ts"
import { secretOf, sign, signStandard, verify } from "../../src/webhook/domain/Signature.ts"

const secrets = FastCheck.uint8Array({ minLength: 32, maxLength: 32 }).map(secretOf)
const text = FastCheck.string({ unit: "grapheme" })
const now = DateTime.unsafeMake("2026-11-21T10:00:00.000Z")

describe("signature", () => {
  it.prop("verifies its own body and secret only", [secrets, secrets, text], ([secret, other, body]) => {
    assert.isTrue(verify(secret, body, sign(secret, body)))
    assert.isFalse(verify(secret, `${body}x`, sign(secret, body)))
    assert.isFalse(verify(secret, body, sign(secret, body).slice(0, -1)))
    if (Redacted.value(secret) !== Redacted.value(other)) assert.isFalse(verify(other, body, sign(secret, body)))
  })

  it.prop("a published verifier accepts the standard headers", [secrets, FastCheck.jsonValue()], ([secret, value]) => {
    const body = JSON.stringify(value)
    const seconds = Math.floor(Date.now() / 1000)
    const headers = {
      "webhook-id": "evt",
      "webhook-timestamp": String(seconds),
      "webhook-signature": signStandard(secret, "evt", seconds, body)
    }
    assert.deepStrictEqual(new Webhook(Redacted.value(secret)).verify(body, headers), JSON.parse(body))
  })
})

describe("retry table", () => {
  it("is the specification's", () => {
    const seconds = [1, 2, 3, 4, 5].map((n) => Option.getOrThrow(Option.map(nextDelay(n, 5), Duration.toSeconds)))
    assert.deepStrictEqual(seconds, [5, 25, 120, 600, 3000])
    assert.isTrue(Option.isNone(nextDelay(6, 5)))
  })

  it.prop(
    "gives at most retry_count repeats and never less than the table says",
    [
      FastCheck.integer({ min: 1, max: 10 }),
      FastCheck.integer({ min: 0, max: 5 }),
      text,
      FastCheck.constantFrom(429, 500, 503)
    ],
    ([failures, retryCount, header, status]) => {
      const delay = delayAfter({ failures, retryCount, status, retryAfter: Option.some(header), now })
      assert.strictEqual(Option.isSome(delay), failures <= Math.min(retryCount, 5))
      if (Option.isSome(delay)) {
        assert.isTrue(Duration.greaterThanOrEqualTo(delay.value, Option.getOrThrow(nextDelay(failures, retryCount))))
        assert.isTrue(Duration.lessThanOrEqualTo(delay.value, "50 minutes"))
      }
    }
  )

  it("reads Retry-After in seconds and as a date, and ignores garbage", () => {
    const seconds = (header: string) => Option.getOrNull(Option.map(retryAfter(header, now), Duration.toSeconds))
    assert.strictEqual(seconds("90"), 90)
    assert.strictEqual(seconds("Sat, 21 Nov 2026 10:01:00 GMT"), 60)
    assert.strictEqual(seconds("31536000"), 3000)
    for (const garbage of ["-5", "soon", "", "0", "Fri, 20 Nov 2026 10:00:00 GMT"]) assert.isNull(seconds(garbage))
  })

  it.prop("2xx alone is success, 410 ends and disables", [FastCheck.integer({ min: 0, max: 599 })], ([code]) => {
    const judged = verdict({ attemptCount: 0, retryCount: 5, code, retryAfter: Option.none(), now })
    assert.strictEqual(judged.state === "succeeded", code >= 200 && code < 300)
    assert.strictEqual(Option.isSome(judged.disable), code === 410)
    assert.strictEqual(Option.isSome(judged.dueAt), judged.state === "failed")
  })
})

describe("targets", () => {
  it("literals inside are refused in every spelling, outside ones pass", () => {
    const inside = [
      "127.0.0.1",
      "10.1.2.3",
      "172.16.0.1",
      "192.168.1.1",
      "169.254.169.254",
      "100.64.0.1",
      "0.0.0.0",
      "224.0.0.1",
      "::1",
      "[::1]",
      "::ffff:127.0.0.1",
      "[::ffff:7f00:1]",
      "fe80::1",
      "fc00::1",
      "64:ff9b::7f00:1",
      "2002:7f00:1::",
      "168.63.129.16",
      "100:0:0:1::5",
      "not an address"
    ]
    for (const address of inside) assert.isFalse(isPublicAddress(address), address)
    for (const address of ["93.184.216.34", "2606:4700::1111"]) assert.isTrue(isPublicAddress(address), address)
    for (const url of ["ftp://x", "http://a:b@x", "nonsense", `http://x/${"y".repeat(2100)}`])
      assert.isNotNull(urlProblem(url))
  })

  it("filters take all, families and single events", () => {
    assert.isTrue(takes(["*"], "a.b"))
    assert.isTrue(takes(["a.*"], "a.b"))
    assert.isFalse(takes(["a.*"], "ab.c"))
    assert.isFalse(takes(["a.c"], "a.b"))
  })
})
