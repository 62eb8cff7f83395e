import { createHmac } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { FastCheck, Redacted, Schema } from "effect"
import { Webhook as StandardWebhook } from "standardwebhooks"
import {
  secretOf,
  sign,
  signStandard,
  type StandardMessage,
  verify,
  verifyStandard
} from "../../../src/webhook/domain/Signature.ts"

const secrets = FastCheck.uint8Array({ minLength: 32, maxLength: 32 }).map(secretOf)
const bodies = FastCheck.string({ unit: "grapheme", maxLength: 400 })
const messages = FastCheck.record({
  id: FastCheck.uuid(),
  timestamp: FastCheck.integer({ min: 0, max: 4_000_000_000 }),
  rawBody: bodies
})

describe("Signature", () => {
  it.prop("verifies its own body", [secrets, bodies], ([secret, body]) => {
    assert.isTrue(verify(secret, body, sign(secret, body)))
  })

  it.prop(
    "verifies no other body, secret or header",
    [secrets, secrets, bodies, Schema.String],
    ([secret, other, body, text]) => {
      const header = sign(secret, body)
      assert.isFalse(verify(secret, `${body} `, header))
      assert.isFalse(verify(secret, body, text))
      assert.isFalse(verify(secret, body, header.toUpperCase()))
      if (Redacted.value(other) !== Redacted.value(secret)) assert.isFalse(verify(other, body, header))
    }
  )

  it.prop("is the lowercase hex HMAC keyed with the whole secret as shown", [secrets, bodies], ([secret, body]) => {
    const hex = createHmac("sha256", Redacted.value(secret)).update(Buffer.from(body, "utf8")).digest("hex")
    assert.strictEqual(sign(secret, body), `sha256=${hex}`)
    assert.match(sign(secret, body), /^sha256=[0-9a-f]{64}$/)
  })

  it("agrees with a value computed elsewhere", () => {
    assert.strictEqual(
      sign(Redacted.make("key"), "The quick brown fox jumps over the lazy dog"),
      "sha256=f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8"
    )
  })

  it.prop("shows a secret as whsec_ and the base64 of 32 bytes", [secrets], ([secret]) => {
    assert.match(Redacted.value(secret), /^whsec_[A-Za-z0-9+/]{43}=$/)
    assert.strictEqual(String(secret), "<redacted>")
  })
})

describe("the Standard Webhooks signature", () => {
  it.prop("is the one that the published library makes", [secrets, messages], ([secret, message]) => {
    const library = new StandardWebhook(Redacted.value(secret))
    const theirs = library.sign(message.id, new Date(message.timestamp * 1000), message.rawBody)
    assert.strictEqual(signStandard(secret, message), theirs)
  })

  it.prop(
    "is accepted by the published library's verifier",
    [secrets, FastCheck.uuid(), FastCheck.json()],
    ([secret, id, rawBody]) => {
      const message: StandardMessage = { id, rawBody, timestamp: Math.floor(Date.now() / 1000) }
      const verified = new StandardWebhook(Redacted.value(secret)).verify(rawBody, {
        "webhook-id": id,
        "webhook-timestamp": String(message.timestamp),
        "webhook-signature": signStandard(secret, message)
      })
      deepStrictEqual(verified, JSON.parse(rawBody))
    }
  )

  it.prop("covers id, time and body", [secrets, messages], ([secret, message]) => {
    const header = signStandard(secret, message)
    assert.isTrue(verifyStandard(secret, message, header))
    assert.isTrue(verifyStandard(secret, message, `v1,bm90IHRoaXMgb25l ${header}`))
    assert.isFalse(verifyStandard(secret, { ...message, id: `${message.id}0` }, header))
    assert.isFalse(verifyStandard(secret, { ...message, timestamp: message.timestamp + 1 }, header))
    assert.isFalse(verifyStandard(secret, { ...message, rawBody: `${message.rawBody} ` }, header))
    assert.isFalse(verifyStandard(secret, message, header.slice("v1,".length)))
  })
})
