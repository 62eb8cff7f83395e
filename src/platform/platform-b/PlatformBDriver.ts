import { Effect, Layer, Option, type Redacted } from "effect"
import { type Credentials, PlatformB, type Session } from "../Platform.ts"
import { makeLogin } from "./Login.ts"
import { defaults, type PlatformBConfig } from "./PlatformBConfig.ts"
import { makePoll } from "./Poll.ts"
import { makePrivateApi } from "./PrivateApi.ts"
import { makeFindSent, makeSend } from "./Sending.ts"
import { makeSessionImport } from "./SessionImport.ts"
import { fresh, unseal } from "./SessionState.ts"

/**
 * platform_b is Instagram: direct messages through the private API of its mobile app, which is unofficial, changes without
 * notice and may restrict accounts that automate. Its constants are configuration.
 *
 * An earlier session of any kind may be given to `login` as `pending`: its device ids are used again, since a new device
 * at every login is what platforms distrust.
 */
export const layer = (overrides: Partial<PlatformBConfig> = {}) =>
  Layer.scoped(
    PlatformB,
    Effect.gen(function* () {
      const api = yield* makePrivateApi({ ...defaults, ...overrides })
      const steps = makeLogin(api)

      const login = Effect.fn("PlatformBDriver.login")(function* (input: {
        readonly credentials: Credentials
        readonly pending: Option.Option<Session>
        readonly verificationCode: Option.Option<Redacted.Redacted<string>>
      }) {
        const { credentials, pending, verificationCode } = input
        const known = yield* Effect.option(Effect.flatMap(pending, unseal))
        const state = Option.isSome(known) ? known.value : yield* fresh
        const line = yield* api.open(state)
        const isAsked = state.pending?._tag === "TwoFactor" && state.pending.username === credentials.username
        if (Option.isSome(verificationCode) && isAsked) {
          return yield* steps.secondFactor(line, credentials, verificationCode.value)
        }
        const step = yield* steps.start(line, credentials)
        return Option.isSome(verificationCode) && step._tag === "TwoFactorRequired"
          ? yield* steps.secondFactor(line, credentials, verificationCode.value)
          : step
      })

      const answerChallenge = Effect.fn("PlatformBDriver.answerChallenge")(function* (input: {
        readonly credentials: Credentials
        readonly pending: Session
        readonly code: Redacted.Redacted<string>
      }) {
        const line = yield* api.open(yield* unseal(input.pending))
        return yield* steps.answerChallenge(line, input.credentials, input.code)
      })

      return PlatformB.of({
        login,
        importSession: makeSessionImport(api),
        answerChallenge,
        poll: makePoll(api),
        send: makeSend(api),
        findSent: makeFindSent(api)
      })
    })
  )
