import { Context, Data, Duration, Effect, Layer, Metric, Option, RcMap } from "effect"
import { securityEvents } from "../Metrics.ts"
import { RateLimit } from "../redis/RateLimit.ts"
import type { EmailTaken, LoginRefused } from "./Accounts.ts"
import { callerNetwork } from "./domain/CallerNetwork.ts"

const window = Duration.minutes(1)
const failuresOfOneEmail = 5
const failuresOfOneAddress = 30
const registrationsOfOneAddress = 600

/** Too many failures or registrations; `retryAfter` is in whole seconds. */
export class LoginThrottled extends Data.TaggedError("LoginThrottled")<{ readonly retryAfter: number }> {}

export interface LoginSource {
  readonly email: string
  readonly address: Option.Option<string>
}

const networkOf = Option.match({ onNone: () => "unknown", onSome: callerNetwork })

const noted = (kind: "failed_login" | "throttled_login") =>
  Metric.increment(Metric.tagged(securityEvents, "kind", kind))

interface Limit {
  readonly key: string
  readonly limit: number
}

/**
 * Five failures a minute for one e-mail and address, thirty for one address (contract, part 3). A registration under a
 * taken e-mail is a failure of its address too: it tells whether an account exists. One address tries one password and
 * makes one account at a time, so that a flood neither outruns the counting nor keeps others from the hashing; that, and
 * 600 a minute, bounds registrations.
 */
export class LoginThrottle extends Context.Tag("gatehouse/identity/LoginThrottle")<
  LoginThrottle,
  {
    /** Runs the login in its address's turn, unless there were too many failures; counts it when it is refused. */
    readonly guard: <A, E>(
      source: LoginSource,
      login: Effect.Effect<A, E | LoginRefused>
    ) => Effect.Effect<A, E | LoginRefused | LoginThrottled>
    /** The same for a registration; each one counts, and one under a taken e-mail also as a failure. */
    readonly guardRegistration: <A, E>(
      address: Option.Option<string>,
      registration: Effect.Effect<A, E | EmailTaken>
    ) => Effect.Effect<A, E | EmailTaken | LoginThrottled>
  }
>() {
  static readonly layer = Layer.scoped(
    LoginThrottle,
    Effect.gen(function* () {
      const rates = yield* RateLimit
      const turns = yield* RcMap.make({ lookup: (_: string) => Effect.makeSemaphore(1) })

      const inTurn = <A, E>(key: string, attempt: Effect.Effect<A, E>): Effect.Effect<A, E> =>
        Effect.scoped(Effect.flatMap(RcMap.get(turns, key), (turn) => turn.withPermits(1)(attempt)))

      const ofAddress = (from: string): Limit => ({ key: `login:${from}`, limit: failuresOfOneAddress })
      const ofEmail = (from: string, email: string): Limit => ({
        key: `login:${from}:${email.toLowerCase()}`,
        limit: failuresOfOneEmail
      })

      const refuse = (resetsIn: Duration.Duration) =>
        Effect.zipRight(
          noted("throttled_login"),
          new LoginThrottled({ retryAfter: Math.max(1, Math.ceil(Duration.toSeconds(resetsIn))) })
        )

      const refuseAbove = (limits: ReadonlyArray<Limit>) =>
        Effect.forEach(
          limits,
          ({ key, limit }) =>
            Effect.flatMap(rates.read(key, window), ({ count, resetsIn }) =>
              count >= limit ? refuse(resetsIn) : Effect.void
            ),
          { discard: true }
        )

      const countFailure = (limits: ReadonlyArray<Limit>) =>
        Effect.zipRight(
          noted("failed_login"),
          Effect.forEach(limits, ({ key }) => rates.add(key, window), { discard: true })
        )

      const countRegistration = (from: string) =>
        Effect.flatMap(rates.add(`register:${from}`, window), ({ count, resetsIn }) =>
          count > registrationsOfOneAddress ? refuse(resetsIn) : Effect.void
        )

      return LoginThrottle.of({
        guard: ({ address, email }, login) => {
          const from = networkOf(address)
          const limits = [ofEmail(from, email), ofAddress(from)]
          return inTurn(
            `login:${from}`,
            Effect.zipRight(
              refuseAbove(limits),
              Effect.tapErrorTag(login, "LoginRefused", () => countFailure(limits))
            )
          )
        },
        guardRegistration: (address, registration) => {
          const from = networkOf(address)
          const limits = [ofAddress(from)]
          return inTurn(
            `register:${from}`,
            Effect.zipRight(
              Effect.zipRight(refuseAbove(limits), countRegistration(from)),
              Effect.tapErrorTag(registration, "EmailTaken", () => countFailure(limits))
            )
          )
        }
      })
    })
  )
}
