import { Clock, Effect, Option, Redacted, Schema } from "effect"
import { type Credentials, LoginStep } from "../Platform.ts"
import { encryptPassword } from "./EncryptedPassword.ts"
import { failure, FailureBody, failureOf } from "./Failures.ts"
import { type PrivateApi, type Reply, shaped } from "./PrivateApi.ts"
import { seal, type SessionState } from "./SessionState.ts"

const LoginBody = Schema.Struct({
  ...FailureBody.fields,
  logged_in_user: Schema.optional(
    Schema.Struct({ pk: Schema.Union(Schema.String, Schema.Number), username: Schema.String })
  ),
  two_factor_required: Schema.optional(Schema.Boolean),
  two_factor_info: Schema.optional(
    Schema.Struct({ two_factor_identifier: Schema.String, totp_two_factor_on: Schema.optional(Schema.Boolean) })
  ),
  step_name: Schema.optional(Schema.String),
  step_data: Schema.optional(
    Schema.Struct({ choice: Schema.optional(Schema.String), contact_point: Schema.optional(Schema.String) })
  ),
  action: Schema.optional(Schema.String)
})

const totp = "3"
const sms = "1"
const codeSteps = ["verify_code", "verify_email", "verify_email_code", "verify_sms_code"]

const deviceForm = (state: SessionState) => ({ guid: state.guid, device_id: state.deviceId })

const jazoest = (phoneId: string): string => `2${[...phoneId].reduce((sum, letter) => sum + letter.charCodeAt(0), 0)}`

/** The steps of a login; each answers with the session to go on from, so any of them survives a restart. */
export const makeLogin = (api: PrivateApi) => {
  const connected = (state: SessionState, user: { readonly pk: string | number; readonly username: string }) => {
    const next = { ...state, userId: String(user.pk), username: user.username, pending: null }
    return LoginStep.Connected({ session: seal(next), username: user.username })
  }

  const challenged = Effect.fn("Login.challenged")(function* (state: SessionState, apiPath: string) {
    const next: SessionState = { ...state, pending: { _tag: "Challenge", apiPath } }
    const path = `/api/v1${apiPath}`
    const first = yield* api.call(next, { method: "GET", path, query: deviceForm(next) })
    const asked = yield* shaped(LoginBody)(first)
    const step =
      asked.step_name === "select_verify_method"
        ? yield* Effect.flatMap(
            api.call(first.state, {
              method: "POST",
              path,
              form: { ...deviceForm(next), choice: asked.step_data?.choice ?? "1" }
            }),
            shaped(LoginBody)
          )
        : asked
    if (step.step_name === undefined || !codeSteps.includes(step.step_name)) {
      return LoginStep.ManualActionRequired({ session: seal(next), url: `challenge: ${step.step_name ?? "unknown"}` })
    }
    return LoginStep.ChallengeRequired({
      session: seal({ ...first.state, pending: next.pending }),
      contactPoint: Option.fromNullable(step.step_data?.contact_point)
    })
  })

  const outcome = Effect.fn("Login.outcome")(function* (reply: Reply) {
    const body = yield* shaped(LoginBody)(reply)
    if (reply.status < 300 && body.logged_in_user !== undefined) return connected(reply.state, body.logged_in_user)
    if (body.two_factor_required === true && body.two_factor_info !== undefined) {
      const method = body.two_factor_info.totp_two_factor_on === true ? totp : sms
      const pending = { _tag: "TwoFactor" as const, identifier: body.two_factor_info.two_factor_identifier, method }
      return LoginStep.TwoFactorRequired({ session: seal({ ...reply.state, pending }) })
    }
    const apiPath = body.challenge?.api_path
    if (body.message === "challenge_required" && apiPath !== undefined) return yield* challenged(reply.state, apiPath)
    const url = body.challenge?.url ?? body.checkpoint_url
    const reason = failureOf(reply.status, body, reply.headers["retry-after"])
    if (reason.reason === "challenge_required" && url !== undefined) {
      return LoginStep.ManualActionRequired({ session: seal(reply.state), url })
    }
    return yield* reason
  })

  const start = Effect.fn("Login.start")(function* (state: SessionState, credentials: Credentials) {
    const synced = yield* api.call(state, {
      method: "POST",
      path: "/api/v1/launcher/sync/",
      form: { id: state.guid, server_config_retrieval: "1" }
    })
    const id = Number(synced.headers["ig-set-password-encryption-key-id"])
    const pem = Buffer.from(synced.headers["ig-set-password-encryption-pub-key"] ?? "", "base64").toString("utf8")
    if (!pem.includes("PUBLIC KEY")) return yield* failure("unavailable", "the platform names no password key")
    const seconds = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    const reply = yield* api.exchange(synced.state, {
      method: "POST",
      path: "/api/v1/accounts/login/",
      signed: true,
      form: {
        ...deviceForm(state),
        username: credentials.username,
        enc_password: encryptPassword(credentials.password, { id, publicKey: pem }, seconds),
        phone_id: state.phoneId,
        adid: "",
        jazoest: jazoest(state.phoneId),
        google_tokens: "[]",
        login_attempt_count: "0"
      }
    })
    return yield* outcome(reply)
  })

  const secondFactor = Effect.fn("Login.secondFactor")(function* (
    state: SessionState,
    username: string,
    code: Redacted.Redacted<string>
  ) {
    if (state.pending?._tag !== "TwoFactor") return yield* failure("wrong_code", "no second factor is being asked for")
    const reply = yield* api.exchange(state, {
      method: "POST",
      path: "/api/v1/accounts/two_factor_login/",
      signed: true,
      form: {
        ...deviceForm(state),
        username,
        verification_code: Redacted.value(code).replaceAll(" ", ""),
        two_factor_identifier: state.pending.identifier,
        verification_method: state.pending.method,
        trust_this_device: "0"
      }
    })
    return yield* outcome(reply)
  })

  const answerChallenge = Effect.fn("Login.answerChallenge")(function* (
    state: SessionState,
    credentials: Credentials,
    code: Redacted.Redacted<string>
  ) {
    if (state.pending?._tag !== "Challenge") return yield* failure("wrong_code", "no challenge is being asked for")
    const { apiPath } = state.pending
    const reply = yield* api.exchange(state, {
      method: "POST",
      path: `/api/v1${apiPath}`,
      form: { ...deviceForm(state), security_code: Redacted.value(code).replaceAll(" ", "") }
    })
    const body = yield* shaped(LoginBody)(reply)
    if (reply.status >= 300) {
      const reason = failureOf(reply.status, body, reply.headers["retry-after"])
      const isWrong =
        reply.status === 400 && (reason.reason === "unavailable" || reason.reason === "challenge_required")
      return yield* isWrong ? failure("wrong_code", "the code is wrong") : reason
    }
    if (body.logged_in_user !== undefined) return connected(reply.state, body.logged_in_user)
    if (body.action === "close") return yield* start({ ...reply.state, pending: null }, credentials)
    return LoginStep.ChallengeRequired({ session: seal(reply.state), contactPoint: Option.none() })
  })

  return { start, secondFactor, answerChallenge } as const
}
