import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Option, Redacted } from "effect"
import { PlatformB } from "../../../src/platform/Platform.ts"
import { polledPlatform } from "../../conformance/PlatformConformance.ts"
import { platformBSide } from "../../support/PlatformBSide.ts"

polledPlatform("platform_b", platformBSide)

const answers = [
  [429, { message: "Please wait a few minutes before you try again." }, "rate_limited"],
  [400, { message: "feedback_required", spam: true }, "action_blocked"],
  [
    400,
    { message: "challenge_required", challenge: { url: "https://x", api_path: "/challenge/" } },
    "challenge_required"
  ],
  [
    400,
    { message: "checkpoint_required", checkpoint_url: "https://x/web/unsupported_version/" },
    "app_version_rejected"
  ],
  [467, {}, "app_version_rejected"],
  [403, { message: "login_required" }, "session_expired"],
  [403, { message: "user_has_logged_out" }, "logged_out"],
  [500, {}, "unavailable"],
  [200, "not an inbox", "unavailable"]
] as const

describe("failures of platform_b", () => {
  for (const [status, body, reason] of answers) {
    it.live(`${status} ${JSON.stringify(body)} is ${reason}`, () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { control, driver, side } = yield* platformBSide
          const account = yield* side.account()
          const outcome = yield* Effect.gen(function* () {
            const platform = yield* PlatformB
            const step = yield* platform.login({
              credentials: { username: account.username, password: Redacted.make(account.password) },
              pending: Option.none(),
              verificationCode: Option.none()
            })
            yield* control("/failures", { path: "/direct_v2/inbox/", status, body, times: 1 })
            return yield* Effect.either(platform.poll(step.session, Option.none()))
          }).pipe(Effect.provide(driver))
          assert.isTrue(Either.isLeft(outcome))
          if (Either.isLeft(outcome)) assert.strictEqual(outcome.left.reason, reason)
        })
      )
    )
  }
})
