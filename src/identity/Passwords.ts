import { hash, verify } from "@node-rs/argon2"
import { Context, Effect, Layer, Redacted } from "effect"

/**
 * Passwords as argon2id (19 MiB, 2 passes). At most two are computed at a time, so that a flood of logins costs time
 * and not memory. `verify` without a stored hash takes as long and answers false.
 */
export class Passwords extends Context.Tag("gatehouse/identity/Passwords")<
  Passwords,
  {
    readonly hash: (password: Redacted.Redacted<string>) => Effect.Effect<string>
    readonly verify: (stored: string | undefined, password: Redacted.Redacted<string>) => Effect.Effect<boolean>
  }
>() {
  static readonly layer = Layer.effect(
    Passwords,
    Effect.gen(function* () {
      const lanes = yield* Effect.makeSemaphore(2)
      const options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
      const hashed = (password: Redacted.Redacted<string>) =>
        lanes.withPermits(1)(Effect.promise(() => hash(Redacted.value(password), options)))
      const nobody = yield* hashed(Redacted.make("no user has this one"))
      return Passwords.of({
        hash: hashed,
        verify: (stored, password) =>
          lanes
            .withPermits(1)(Effect.promise(() => verify(stored ?? nobody, Redacted.value(password))))
            .pipe(Effect.map((matches) => matches && stored !== undefined))
      })
    })
  )
}
