import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Redacted } from "effect"
import { Passwords } from "../../src/identity/Passwords.ts"

const right = Redacted.make("correct horse")
const wrong = Redacted.make("battery staple")

/** What the work itself takes, whoever else uses the machine. */
const quickest = (runs: ReadonlyArray<Duration.Duration>) => Math.min(...runs.map(Duration.toMillis))

describe("Passwords", () => {
  it.live("are argon2id with the parameters that are told, salted, and verified", () =>
    Effect.gen(function* () {
      const passwords = yield* Passwords
      const [one, other] = yield* Effect.all([passwords.hash(right), passwords.hash(right)])
      assert.match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
      assert.notStrictEqual(one, other)
      assert.isTrue(yield* passwords.verify(one, right))
      assert.isFalse(yield* passwords.verify(one, wrong))
      assert.isFalse(yield* passwords.verify(undefined, Redacted.make("no user has this one")))
    }).pipe(Effect.provide(Passwords.layer))
  )

  it.live("take as long for nobody as for somebody", () =>
    Effect.gen(function* () {
      const passwords = yield* Passwords
      const stored = yield* passwords.hash(right)
      const inTurns = Effect.all([
        Effect.timed(passwords.verify(stored, wrong)),
        Effect.timed(passwords.verify(undefined, wrong))
      ])
      const turns = yield* Effect.replicateEffect(inTurns, 15)
      const somebody = quickest(turns.map(([[duration]]) => duration))
      const nobody = quickest(turns.map(([, [duration]]) => duration))
      assert.isAbove(nobody, somebody / 2)
      assert.isBelow(nobody, somebody * 2)
    }).pipe(Effect.provide(Passwords.layer))
  )
})
