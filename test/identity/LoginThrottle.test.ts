import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Array, Effect, Either, Layer, Option, TestClock } from "effect"
import { EmailTaken, LoginRefused } from "../../src/identity/Accounts.ts"
import { LoginThrottle } from "../../src/identity/LoginThrottle.ts"
import { RateLimit } from "../../src/redis/RateLimit.ts"

const throttled = LoginThrottle.layer.pipe(Layer.provide(RateLimit.layerMemory()))

const from = (address: string, email: string) => ({ email, address: Option.some(address) })

const outcome = <A, E extends { readonly _tag: string }>(attempt: Effect.Effect<A, E>) =>
  Effect.map(Effect.either(attempt), Either.match({ onLeft: ({ _tag }) => _tag, onRight: () => "in" }))

const failed = (source: ReturnType<typeof from>) =>
  Effect.flatMap(LoginThrottle, (throttle) => outcome(throttle.guard(source, Effect.fail(new LoginRefused()))))

const passed = (source: ReturnType<typeof from>) =>
  Effect.flatMap(LoginThrottle, (throttle) => outcome(throttle.guard(source, Effect.void)))

const registered = (address: string, registration: Effect.Effect<void, EmailTaken> = Effect.void) =>
  Effect.flatMap(LoginThrottle, (throttle) => outcome(throttle.guardRegistration(Option.some(address), registration)))

describe("LoginThrottle", () => {
  it.effect("refuses after five failures for one e-mail and address until the minute is over", () =>
    Effect.gen(function* () {
      const source = from("10.0.0.1", "ann@example.com")
      const tries = yield* Effect.forEach(Array.range(1, 7), () => failed(source))
      deepStrictEqual(tries, [...Array.replicate("LoginRefused", 5), "LoginThrottled", "LoginThrottled"])
      assert.strictEqual(yield* passed(from("10.0.0.1", "ANN@example.com")), "LoginThrottled")
      assert.strictEqual(yield* passed(from("10.0.0.1", "ben@example.com")), "in")
      assert.strictEqual(yield* passed(from("10.0.0.2", "ann@example.com")), "in")
      yield* TestClock.adjust("59 seconds")
      const refusal = yield* Effect.flatMap(LoginThrottle, (throttle) =>
        Effect.flip(throttle.guard(source, Effect.void))
      )
      assert.deepInclude(refusal, { _tag: "LoginThrottled", retryAfter: 1 })
      yield* TestClock.adjust("1 seconds")
      assert.strictEqual(yield* passed(source), "in")
    }).pipe(Effect.provide(throttled))
  )

  it.effect("refuses after thirty failures of one address, whatever e-mail it tries", () =>
    Effect.gen(function* () {
      const tries = yield* Effect.forEach(Array.range(1, 31), (n) => failed(from("10.0.0.1", `user${n}@example.com`)))
      deepStrictEqual(tries, [...Array.replicate("LoginRefused", 30), "LoginThrottled"])
      assert.strictEqual(yield* registered("10.0.0.1"), "LoginThrottled")
      assert.strictEqual(yield* passed(from("10.0.0.2", "user1@example.com")), "in")
    }).pipe(Effect.provide(throttled))
  )

  it.effect("counts a flood that comes at once, and successes never", () =>
    Effect.gen(function* () {
      const source = from("10.0.0.1", "ann@example.com")
      const slow = Effect.flatMap(LoginThrottle, (throttle) =>
        outcome(throttle.guard(source, Effect.zipRight(Effect.yieldNow(), new LoginRefused())))
      )
      const right = yield* Effect.all(Array.replicate(passed(source), 50), { concurrency: 50 })
      deepStrictEqual(right, Array.replicate("in", 50))
      const wrong = yield* Effect.all(Array.replicate(slow, 50), { concurrency: 50 })
      assert.strictEqual(wrong.filter((tag) => tag === "LoginRefused").length, 5)
    }).pipe(Effect.provide(throttled))
  )

  it.effect("bounds registrations of one address, one at a time, and counts taken e-mails as failures", () =>
    Effect.gen(function* () {
      let running = 0
      let most = 0
      const registration = Effect.gen(function* () {
        most = Math.max(most, ++running)
        yield* Effect.yieldNow()
        running--
      })
      const tries = yield* Effect.all(Array.replicate(registered("10.0.0.1", registration), 605), { concurrency: 605 })
      assert.strictEqual(tries.filter((tag) => tag === "in").length, 600)
      assert.strictEqual(most, 1)
      const taken = Effect.fail(new EmailTaken())
      const guesses = yield* Effect.forEach(Array.range(1, 31), () => registered("10.0.0.2", taken))
      deepStrictEqual(guesses, [...Array.replicate("EmailTaken", 30), "LoginThrottled"])
      assert.strictEqual(yield* passed(from("10.0.0.2", "ann@example.com")), "LoginThrottled")
    }).pipe(Effect.provide(throttled))
  )
})
