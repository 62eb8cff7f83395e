import { assert, describe, it } from "@effect/vitest"
import { assertSome, deepStrictEqual } from "@effect/vitest/utils"
import { Effect, Fiber, Option, TestClock, TestServices } from "effect"
import { PlatformB } from "../../../src/platform/Platform.ts"
import { polledPlatform } from "../../conformance/PlatformConformance.ts"
import { platformBSide } from "../../support/PlatformBSide.ts"
import { until } from "../../support/Until.ts"
import { login, reasonOf, withSimulator } from "./SimulatedChannel.ts"

polledPlatform("platform_b", platformBSide)

const unsupported = { message: "checkpoint_required", checkpoint_url: "https://x/web/unsupported_version/" }
const challenge = { message: "challenge_required", challenge: { url: "https://x", api_path: "/challenge/" } }

const answers = [
  [{ status: 429, body: {} }, "rate_limited"],
  [{ status: 429, raw: "<html>slow down</html>" }, "rate_limited"],
  [{ status: 400, body: { message: "Please wait a few minutes before you try again." } }, "rate_limited"],
  [{ status: 400, body: { message: "feedback_required", spam: true } }, "action_blocked"],
  [{ status: 400, body: challenge }, "challenge_required"],
  [{ status: 400, body: { message: "checkpoint_required" } }, "challenge_required"],
  [{ status: 400, body: { message: "consent_required" } }, "challenge_required"],
  [{ status: 400, body: unsupported }, "app_version_rejected"],
  [{ status: 467, raw: "" }, "app_version_rejected"],
  [{ status: 403, body: { message: "login_required" } }, "session_expired"],
  [{ status: 403, body: { message: "user_has_logged_out" } }, "logged_out"],
  [{ status: 404, raw: "<html>" }, "not_found"],
  [{ status: 500, raw: "<html>" }, "unavailable"],
  [{ status: 302, body: {} }, "unavailable"],
  [{ status: 200, body: { status: "fail", message: "counter get error" } }, "unavailable"],
  [{ status: 200, body: "not an inbox" }, "unavailable"],
  [{ status: 200, raw: "<html>" }, "unavailable"],
  [{ kind: "reset" }, "unavailable"]
] as const

describe("failures of platform_b", () => {
  it.live("have their class, in a poll and in a send", () =>
    withSimulator(({ account, control }) =>
      Effect.gen(function* () {
        const platform = yield* PlatformB
        const { session } = yield* login(yield* account())
        for (const [answer, reason] of answers) {
          yield* control("/failures", { path: "/direct_v2/inbox/", ...answer })
          const polled = yield* reasonOf(platform.poll(session, Option.none()))
          yield* control("/failures", { path: "/broadcast/text/", ...answer })
          const sent = yield* reasonOf(platform.send(session, { to: "pb:1", body: "x", clientId: "c" }))
          deepStrictEqual([polled, sent], [reason, reason], JSON.stringify(answer))
        }
        yield* control("/failures", { path: "/inbox/", status: 429, headers: { "retry-after": "77" } })
        const failed = yield* Effect.flip(platform.poll(session, Option.none()))
        assertSome(failed.retryAfter, 77)
      })
    )
  )

  it.live("a session that the platform closed is expired", () =>
    withSimulator(({ account, control }) =>
      Effect.gen(function* () {
        const platform = yield* PlatformB
        const { session } = yield* login(yield* account())
        yield* control("/sessions/close", {})
        assert.strictEqual(yield* reasonOf(platform.poll(session, Option.none())), "session_expired")
      })
    )
  )

  for (const kind of ["hang", "stall"]) {
    it.effect(`a platform that ${kind}s is given up after 15 seconds`, () =>
      withSimulator(({ account, control, look }) =>
        Effect.gen(function* () {
          const platform = yield* PlatformB
          const { session } = yield* login(yield* account())
          yield* control("/failures", { path: "/direct_v2/inbox/", kind })
          const polling = yield* Effect.fork(reasonOf(platform.poll(session, Option.none())))
          const isAsked = until(look("/requests"), (calls) => calls.at(-1).path.endsWith("/direct_v2/inbox/"))
          yield* TestServices.provideLive(isAsked)
          yield* TestClock.adjust("14 seconds")
          assert.isTrue(Option.isNone(yield* Fiber.poll(polling)))
          yield* TestClock.adjust("1 second")
          assert.strictEqual(yield* Fiber.join(polling), "unavailable")
        })
      )
    )
  }

  it.live("an address where nobody listens is unavailable", () =>
    withSimulator(({ account }) => Effect.flatMap(account(), login)).pipe(
      Effect.flatMap(({ session }) =>
        Effect.scoped(Effect.flatMap(platformBSide, ({ driver }) => Effect.succeed(driver))).pipe(
          Effect.flatMap((gone) =>
            Effect.flatMap(PlatformB, (platform) => reasonOf(platform.poll(session, Option.none()))).pipe(
              Effect.provide(gone)
            )
          )
        )
      ),
      Effect.map((reason) => assert.strictEqual(reason, "unavailable"))
    )
  )
})

describe("calls of platform_b", () => {
  it.live("look like the app's, and carry nothing of ours", () =>
    withSimulator(({ account, look }) =>
      Effect.gen(function* () {
        const platform = yield* PlatformB
        const { session } = yield* Effect.withSpan(login(yield* account()), "caller")
        yield* Effect.withSpan(platform.poll(session, Option.none()), "caller")
        const calls: Array<{ headers: Record<string, string> }> = yield* look("/requests")
        for (const { headers } of calls) {
          assert.match(headers["user-agent"] ?? "", /^Instagram [\d.]+ Android \(34\/14; .*; en_US; \d+\)$/)
          assert.match(headers["x-bloks-version-id"] ?? "", /^[0-9a-f]{64}$/)
          assert.match(headers["x-pigeon-rawclienttime"] ?? "", /^\d+\.\d{3}$/)
          for (const name of ["traceparent", "b3", "cookie"]) assert.isUndefined(headers[name])
        }
        const last = calls.at(-1)?.headers ?? {}
        assert.strictEqual(last["x-mid"], "simulated-mid")
        assert.strictEqual(last["x-ig-www-claim"], "hmac.simulated")
        assert.strictEqual(last["ig-u-rur"], "SIM")
      })
    )
  )
})
