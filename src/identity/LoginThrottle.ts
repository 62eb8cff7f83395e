import { Context, Data, Duration, Effect, Layer, Option } from "effect"
import { RateLimit } from "../redis/RateLimit.ts"
import type { LoginRefused } from "./Accounts.ts"

const window = Duration.minutes(1)
const failuresOfOneEmail = 5
const failuresOfOneAddress = 30

/** Too many failed logins; `retryAfter` is in whole seconds. */
export class LoginThrottled extends Data.TaggedError("LoginThrottled")<{ readonly retryAfter: number }> {}

export interface LoginSource {
  readonly email: string
  readonly address: Option.Option<string>
}

/** Five failures a minute for one e-mail and address, thirty for one address (contract, part 3). */
export class LoginThrottle extends Context.Tag("gatehouse/identity/LoginThrottle")<
  LoginThrottle,
  {
    readonly guard: <A, E>(
      source: LoginSource,
      login: Effect.Effect<A, E | LoginRefused>
    ) => Effect.Effect<A, E | LoginRefused | LoginThrottled>
  }
>() {
  static readonly layer = Layer.effect(
    LoginThrottle,
    Effect.gen(function* () {
      const rates = yield* RateLimit

      const limitsOf = ({ address, email }: LoginSource) => {
        const from = Option.getOrElse(address, () => "unknown")
        return [
          { key: `login:${from}:${email.toLowerCase()}`, limit: failuresOfOneEmail },
          { key: `login:${from}`, limit: failuresOfOneAddress }
        ] as const
      }

      const refuseAbove = (source: LoginSource) =>
        Effect.forEach(limitsOf(source), ({ key, limit }) =>
          Effect.flatMap(rates.read(key, window), ({ count, resetsIn }) =>
            count >= limit
              ? Effect.fail(new LoginThrottled({ retryAfter: Math.ceil(Duration.toSeconds(resetsIn)) }))
              : Effect.void
          )
        )

      const countFailure = (source: LoginSource) =>
        Effect.forEach(limitsOf(source), ({ key }) => rates.add(key, window), { discard: true })

      return LoginThrottle.of({
        guard: (source, login) =>
          Effect.zipRight(
            refuseAbove(source),
            Effect.tapErrorTag(login, "LoginRefused", () => countFailure(source))
          )
      })
    })
  )
}
