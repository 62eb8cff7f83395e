import { assert, describe, it } from "@effect/vitest"
import { assertSome, deepStrictEqual } from "@effect/vitest/utils"
import { Effect, Option, Redacted } from "effect"
import { PlatformB } from "../../../src/platform/Platform.ts"
import { answerChallenge, login, reasonOf, restarted, withSimulator } from "./SimulatedChannel.ts"

const read = (session: Redacted.Redacted<string>) => JSON.parse(Redacted.value(session))

describe("logging in to platform_b", () => {
  it.live("keeps a session of about a kilobyte, and the device over later logins", () =>
    withSimulator(({ account }) =>
      Effect.gen(function* () {
        const shop = yield* account()
        const first = yield* login(shop)
        assert.strictEqual(first._tag, "Connected")
        assert.isBelow(Redacted.value(first.session).length, 1_024)
        assert.notInclude(Redacted.value(first.session), shop.password)
        assert.match(read(first.session).userId, /^\d{17,}$/)
        const second = yield* login(shop, { pending: first.session })
        for (const part of ["guid", "phoneId", "deviceId"]) {
          assert.strictEqual(read(second.session)[part], read(first.session)[part])
        }
        assert.notStrictEqual(read(second.session).authorization, read(first.session).authorization)
        const { region, ...older } = read(second.session)
        assert.strictEqual(region, "SIM")
        const platform = yield* PlatformB
        const polled = yield* platform.poll(Redacted.make(JSON.stringify(older)), Option.none())
        deepStrictEqual(polled.messages, [])
        const unreadable = yield* login(shop, { pending: Redacted.make("of an older version") })
        assert.strictEqual(unreadable._tag, "Connected")
      })
    )
  )

  it.live("a second factor goes on after a restart, also after a wrong code", () =>
    withSimulator(({ account }) =>
      Effect.gen(function* () {
        const shop = yield* account({ two_factor_code: "123456" })
        const asked = yield* login(shop)
        assert.strictEqual(asked._tag, "TwoFactorRequired")
        const pending = restarted(asked.session)
        assert.strictEqual(yield* reasonOf(login(shop, { pending, code: "000000" })), "wrong_code")
        assert.strictEqual((yield* login(shop, { pending, code: "123 456" }))._tag, "Connected")
      })
    )
  )

  it.live("a code may come with the first call, and one for another account is not used", () =>
    withSimulator(({ account }) =>
      Effect.gen(function* () {
        const shop = yield* account({ two_factor_code: "123456" })
        const other = yield* account({ two_factor_code: "654321" })
        assert.strictEqual((yield* login(shop, { code: "123456" }))._tag, "Connected")
        const asked = yield* login(shop)
        assert.strictEqual((yield* login(other, { pending: asked.session, code: "654321" }))._tag, "Connected")
        const none = yield* account()
        assert.strictEqual((yield* login(none, { code: "111111" }))._tag, "Connected")
      })
    )
  )

  it.live("a challenge goes on after a restart at every step, and a wrong code ends nothing", () =>
    withSimulator(({ account, look }) =>
      Effect.gen(function* () {
        const shop = yield* account({ challenge_code: "987654" })
        const asked = yield* login(shop)
        assert.strictEqual(asked._tag, "ChallengeRequired")
        if (asked._tag === "ChallengeRequired") {
          assertSome(asked.contactPoint, "s***@example.com")
        }
        const pending = restarted(asked.session)
        assert.strictEqual(yield* reasonOf(answerChallenge(shop, pending, "000000")), "wrong_code")
        assert.strictEqual((yield* answerChallenge(shop, restarted(pending), "987654"))._tag, "Connected")
        const calls: Array<{ method: string; path: string }> = yield* look("/requests")
        const steps = calls.filter(({ path }) => path.includes("/challenge/")).map(({ method }) => method)
        deepStrictEqual(steps, ["GET", "POST", "POST", "POST"])
        assert.strictEqual((yield* login(shop))._tag, "Connected")
      })
    )
  )

  it.live("a login that was asked before the restart asks for the code again", () =>
    withSimulator(({ account }) =>
      Effect.gen(function* () {
        const shop = yield* account({ challenge_code: "987654" })
        yield* login(shop)
        const again = yield* login(shop)
        assert.strictEqual(again._tag, "ChallengeRequired")
        assert.strictEqual((yield* answerChallenge(shop, again.session, "987654"))._tag, "Connected")
      })
    )
  )

  it.live("a challenge that opens no session is followed by the login, and by its second factor", () =>
    withSimulator(({ account }) =>
      Effect.gen(function* () {
        const shop = yield* account({ challenge_code: "987654", challenge_signs_in: false })
        const asked = yield* login(shop)
        assert.strictEqual((yield* answerChallenge(shop, restarted(asked.session), "987654"))._tag, "Connected")
        const careful = yield* account({ challenge_code: "987654", two_factor_code: "123456" })
        const challenged = yield* login(careful)
        const factor = yield* answerChallenge(careful, restarted(challenged.session), "987654")
        assert.strictEqual(factor._tag, "TwoFactorRequired")
        const pending = restarted(factor.session)
        assert.strictEqual((yield* login(careful, { pending, code: "123456" }))._tag, "Connected")
      })
    )
  )

  it.live("“was it you” is answered, and what only the owner can do is told with its page", () =>
    withSimulator(({ account, control }) =>
      Effect.gen(function* () {
        const asked = yield* account({ challenge_code: "1", challenge_step: "delta_login_review" })
        assert.strictEqual((yield* login(asked))._tag, "Connected")
        const stuck = yield* login(yield* account({ challenge_code: "1", challenge_step: "submit_phone" }))
        assert.strictEqual(stuck._tag, "ManualActionRequired")
        if (stuck._tag === "ManualActionRequired") assert.match(stuck.url, /^https:\/\/simulated\/challenge\/\d+\/$/)
        const body = { message: "checkpoint_required", checkpoint_url: "https://x/checkpoint/1/", challenge: null }
        yield* control("/failures", { path: "/accounts/login/", status: 400, body })
        const page = yield* login(yield* account())
        assert.isTrue(page._tag === "ManualActionRequired" && page.url === "https://x/checkpoint/1/")
      })
    )
  )

  it.live("a platform that makes no sense is worth another try", () =>
    withSimulator(({ account, control }) =>
      Effect.gen(function* () {
        const shop = yield* account()
        const answers = [
          { path: "/launcher/sync/", status: 200, body: { status: "ok" } },
          { path: "/launcher/sync/", status: 200, body: {}, headers: { "ig-set-password-encryption-pub-key": "AAAA" } },
          { path: "/accounts/login/", status: 200, body: { status: "ok", logged_in_user: { pk: 1, username: "x" } } },
          { path: "/accounts/login/", status: 200, raw: "<html>" },
          { path: "/accounts/login/", status: 503, raw: "<html>" }
        ]
        for (const answer of answers) {
          yield* control("/failures", answer)
          assert.strictEqual(yield* reasonOf(login(shop)), "unavailable")
        }
        yield* control("/failures", { path: "/accounts/login/", status: 429, raw: "<html>" })
        assert.strictEqual(yield* reasonOf(login(shop)), "rate_limited")
        const platform = yield* PlatformB
        const lost = platform.poll(Redacted.make("{}"), Option.none())
        assert.strictEqual(yield* reasonOf(lost), "session_expired")
      })
    )
  )
})
