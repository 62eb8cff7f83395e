import { Clock, Effect, Option, Redacted, Ref } from "effect"
import { type Credentials, LoginStep, type PlatformFailure } from "../Platform.ts"
import * as Challenge from "./Challenge.ts"
import { encryptPassword, passwordKey } from "./EncryptedPassword.ts"
import { failure, pageOf } from "./Failures.ts"
import { deviceForm, LoginAnswer, type SignedIn } from "./LoginAnswer.ts"
import { failureIn, type Line, type PrivateApi, type Reply, shaped } from "./PrivateApi.ts"
import { loggedOut, seal, type SessionState } from "./SessionState.ts"

const totp = "3"
const sms = "1"

const jazoest = (phoneId: string): string => `2${[...phoneId].reduce((sum, letter) => sum + letter.charCodeAt(0), 0)}`

/** The steps of a login; each answers with the session to go on from, so any of them survives a restart. */
export const makeLogin = ({ baseUrl }: PrivateApi) => {
  const keep = (line: Line, pending: SessionState["pending"]) =>
    Effect.map(
      Ref.updateAndGet(line.state, (state): SessionState => ({ ...state, pending })),
      seal
    )

  const signedIn = Effect.fn("Login.signedIn")(function* (line: Line, { pk, username }: SignedIn) {
    const state = yield* line.state
    if (state.authorization === null) return yield* failure("unavailable", "the platform opened no session")
    return LoginStep.Connected({ session: seal({ ...state, userId: pk, username, pending: null }), username })
  })

  const ownerNeeded = Effect.fn("Login.ownerNeeded")(function* (line: Line, url: string) {
    return LoginStep.ManualActionRequired({ session: yield* keep(line, null), url })
  })

  const submit = Effect.fn("Login.submit")(function* (line: Line, credentials: Credentials) {
    const state = yield* Ref.updateAndGet(line.state, loggedOut)
    const synced = yield* line.call({
      method: "POST",
      path: "/api/v1/launcher/sync/",
      form: { id: state.guid, server_config_retrieval: "1" }
    })
    const key = passwordKey(
      synced.headers["ig-set-password-encryption-key-id"],
      synced.headers["ig-set-password-encryption-pub-key"]
    )
    if (Option.isNone(key)) return yield* failure("unavailable", "the platform names no password key")
    const seconds = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    return yield* line.exchange({
      method: "POST",
      path: "/api/v1/accounts/login/",
      signed: true,
      form: {
        ...deviceForm(state),
        username: credentials.username,
        enc_password: encryptPassword(credentials.password, key.value, seconds),
        phone_id: state.phoneId,
        adid: "",
        jazoest: jazoest(state.phoneId),
        country_codes: '[{"country_code":"1","source":["default"]}]',
        google_tokens: "[]",
        login_attempt_count: "0"
      }
    })
  })

  /** What an answer to a password or a second factor led to; `challenged` says what to do about a challenge. */
  const outcome = Effect.fn("Login.outcome")(function* (
    line: Line,
    username: string,
    reply: Reply,
    challenged: (apiPath: string, page: string) => Effect.Effect<LoginStep, PlatformFailure>
  ): Effect.fn.Return<LoginStep, PlatformFailure> {
    const answer = yield* shaped(LoginAnswer)(reply)
    if (reply.status < 300 && Option.isSome(answer.logged_in_user)) {
      return yield* signedIn(line, answer.logged_in_user.value)
    }
    if (Option.isSome(answer.two_factor_info)) {
      const { totp_two_factor_on, two_factor_identifier: identifier } = answer.two_factor_info.value
      const method = Option.contains(totp_two_factor_on, true) ? totp : sms
      return LoginStep.TwoFactorRequired({
        session: yield* keep(line, { _tag: "TwoFactor", username, identifier, method })
      })
    }
    const reason = failureIn(reply)
    if (reason.reason !== "challenge_required") return yield* reason
    const apiPath = Option.flatMap(answer.challenge, ({ api_path }) => api_path)
    const page = Option.getOrElse(pageOf(answer), () => `${baseUrl}${Option.getOrElse(apiPath, () => "/challenge/")}`)
    return yield* Option.match(apiPath, {
      onSome: (path) => challenged(path, page),
      onNone: () => ownerNeeded(line, page)
    })
  })

  /** A challenge that is passed without a session is followed by one more login, whose own challenge is the owner's. */
  const afterPassing = Effect.fn("Login.afterPassing")(function* (
    line: Line,
    credentials: Credentials,
    user: Option.Option<SignedIn>
  ) {
    if (Option.isSome(user) && (yield* line.state).authorization !== null) return yield* signedIn(line, user.value)
    const reply = yield* submit(line, credentials)
    return yield* outcome(line, credentials.username, reply, (_, page) => ownerNeeded(line, page))
  })

  const goOn = Effect.fn("Login.goOn")(function* (
    line: Line,
    credentials: Credentials,
    place: { readonly apiPath: string; readonly page: string },
    standing: Challenge.Standing
  ) {
    return yield* Challenge.Standing.$match(standing, {
      OwnerNeeded: () => ownerNeeded(line, place.page),
      Passed: ({ signedIn: user }) => afterPassing(line, credentials, user),
      CodeAsked: ({ contactPoint }) =>
        Effect.map(keep(line, { _tag: "Challenge", ...place }), (session) =>
          LoginStep.ChallengeRequired({ session, contactPoint })
        )
    })
  })

  const beginChallenge = (line: Line, credentials: Credentials) => (apiPath: string, page: string) =>
    Effect.flatMap(Challenge.begin(line, apiPath), (standing) => goOn(line, credentials, { apiPath, page }, standing))

  const start = Effect.fn("Login.start")(function* (line: Line, credentials: Credentials) {
    const reply = yield* submit(line, credentials)
    return yield* outcome(line, credentials.username, reply, beginChallenge(line, credentials))
  })

  const secondFactor = Effect.fn("Login.secondFactor")(function* (
    line: Line,
    credentials: Credentials,
    code: Redacted.Redacted<string>
  ) {
    const state = yield* line.state
    if (state.pending?._tag !== "TwoFactor") return yield* failure("wrong_code", "no second factor is being asked for")
    const reply = yield* line.exchange({
      method: "POST",
      path: "/api/v1/accounts/two_factor_login/",
      signed: true,
      form: {
        ...deviceForm(state),
        username: credentials.username,
        phone_id: state.phoneId,
        verification_code: Redacted.value(code).replace(/\s/g, ""),
        two_factor_identifier: state.pending.identifier,
        verification_method: state.pending.method,
        trust_this_device: "1"
      }
    })
    return yield* outcome(line, credentials.username, reply, beginChallenge(line, credentials))
  })

  const answerChallenge = Effect.fn("Login.answerChallenge")(function* (
    line: Line,
    credentials: Credentials,
    code: Redacted.Redacted<string>
  ) {
    const { pending } = yield* line.state
    if (pending?._tag !== "Challenge") return yield* failure("wrong_code", "no challenge is being asked for")
    return yield* goOn(line, credentials, pending, yield* Challenge.answer(line, pending.apiPath, code))
  })

  return { start, secondFactor, answerChallenge } as const
}
