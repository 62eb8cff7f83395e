import { Option, Schema } from "effect"
import { PlatformFailure } from "../Platform.ts"

/** The parts of an answer that tell why it is no success. */
export const FailureBody = Schema.Struct({
  status: Schema.optional(Schema.String),
  message: Schema.optional(Schema.Unknown),
  error_type: Schema.optional(Schema.String),
  spam: Schema.optional(Schema.Boolean),
  feedback_required: Schema.optional(Schema.Boolean),
  challenge: Schema.optional(
    Schema.Struct({ api_path: Schema.optional(Schema.String), url: Schema.optional(Schema.String) })
  ),
  checkpoint_url: Schema.optional(Schema.String)
})
export type FailureBody = typeof FailureBody.Type

export const failure = (
  reason: PlatformFailure["reason"],
  detail: string,
  retryAfter: Option.Option<number> = Option.none()
) => new PlatformFailure({ reason, detail, retryAfter })

const seconds = (header: string | undefined): Option.Option<number> =>
  Option.filter(Option.some(Number(header)), (value) => header !== undefined && value > 0 && Number.isFinite(value))

/** Status and body in typed words. Details name conditions, never what was sent. */
export const failureOf = (status: number, body: FailureBody, retryAfter: string | undefined): PlatformFailure => {
  const message = typeof body.message === "string" ? body.message : ""
  const type = body.error_type ?? ""
  if (status === 429 || /please wait a few minutes/i.test(message)) {
    return failure("rate_limited", "the platform asks to wait", seconds(retryAfter))
  }
  if (status === 467 || /out of date/i.test(message) || body.checkpoint_url?.includes("unsupported_version") === true) {
    return failure("app_version_rejected", "the platform refuses this app version")
  }
  if (type === "bad_password") return failure("bad_password", "the password is wrong")
  if (type === "invalid_user") return failure("unknown_user", "the platform knows no such user")
  if (type.includes("code_invalid") || /check the (security )?code/i.test(message)) {
    return failure("wrong_code", "the code is wrong")
  }
  if (
    ["challenge_required", "checkpoint_required", "consent_required"].includes(message) ||
    body.challenge !== undefined
  ) {
    return failure("challenge_required", message === "" ? "challenge_required" : message)
  }
  if (message === "login_required") return failure("session_expired", "the session has ended")
  if (message === "user_has_logged_out") return failure("logged_out", "the user has logged out")
  if (
    body.spam === true ||
    body.feedback_required === true ||
    message === "feedback_required" ||
    type === "sentry_block"
  ) {
    return failure("action_blocked", "the platform blocks this action for now")
  }
  if (status === 404) return failure("not_found", "no such thing on the platform")
  return failure("unavailable", `the platform answered ${status}`)
}
