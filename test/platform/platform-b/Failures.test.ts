import { assert, describe, it } from "@effect/vitest"
import { assertNone, assertSome } from "@effect/vitest/utils"
import { FastCheck, Schema } from "effect"
import { FailureBody, failureOf } from "../../../src/platform/platform-b/Failures.ts"

const body = Schema.decodeUnknownSync(FailureBody)
const reasonOf = (status: number, answer: unknown) => failureOf(status, body(answer), undefined).reason

const secret = FastCheck.stringMatching(/^S3CRET-[a-z0-9]{8}$/)

describe("failures of platform_b", () => {
  it("are told apart by status, message and type", () => {
    const page = { checkpoint_url: "https://x/web/unsupported_version/" }
    assert.strictEqual(reasonOf(400, { error_type: "rate_limit_error" }), "rate_limited")
    assert.strictEqual(reasonOf(400, { message: "Please wait a few minutes." }), "rate_limited")
    assert.strictEqual(reasonOf(400, { error_type: "needs_upgrade", message: "Translated" }), "app_version_rejected")
    assert.strictEqual(reasonOf(400, { message: "Your version is out of date." }), "app_version_rejected")
    assert.strictEqual(reasonOf(400, { message: "checkpoint_required", ...page }), "app_version_rejected")
    assert.strictEqual(reasonOf(400, { error_type: "sms_code_validation_code_invalid" }), "wrong_code")
    assert.strictEqual(reasonOf(400, { message: "consent_required" }), "challenge_required")
    assert.strictEqual(reasonOf(400, { error_type: "checkpoint_challenge_required" }), "challenge_required")
    assert.strictEqual(reasonOf(400, { error_type: "sentry_block" }), "action_blocked")
    assert.strictEqual(reasonOf(400, { spam: true }), "action_blocked")
    assert.strictEqual(reasonOf(403, { message: "login_required", challenge: null }), "session_expired")
    assert.strictEqual(reasonOf(400, { error_type: "inactive user" }), "banned")
    assert.strictEqual(reasonOf(400, { message: "Your account has been disabled for violating our terms." }), "banned")
    assert.strictEqual(
      reasonOf(400, { message: "checkpoint_required", checkpoint_url: "/accounts/suspended/" }),
      "banned"
    )
    assert.strictEqual(reasonOf(404, {}), "not_found")
    assert.strictEqual(reasonOf(200, { status: "fail", message: { odd: true } }), "unavailable")
  })

  it("carry the wait that the platform asks for", () => {
    assertSome(failureOf(429, body({}), "120").retryAfter, 120)
    for (const header of [undefined, "soon", "-1", "0", ""]) {
      assertNone(failureOf(429, body({}), header).retryAfter)
    }
  })

  const types = [
    undefined,
    "bad_password",
    "invalid_user",
    "login_required",
    "challenge_required",
    "sentry_block",
    "new"
  ]

  it.prop(
    "repeat nothing of what the platform says",
    [FastCheck.integer({ min: 200, max: 599 }), secret, FastCheck.constantFrom(...types), FastCheck.boolean()],
    ([status, text, error_type, hasPages]) => {
      const pages = hasPages ? { checkpoint_url: text, challenge: { url: text, api_path: text } } : {}
      for (const answer of [
        { error_type, message: text, ...pages },
        { error_type: text, message: error_type, ...pages }
      ]) {
        assert.notInclude(JSON.stringify(failureOf(status, body(answer), text)), text)
      }
    }
  )
})
