import { Option, Schema } from "effect"
import { PlatformFailure } from "../Platform.ts"
import { perhaps } from "./Fields.ts"

/** The parts of an answer that tell why it is no success. */
export const FailureBody = Schema.Struct({
  status: perhaps(Schema.String),
  message: perhaps(Schema.String),
  error_type: perhaps(Schema.String),
  spam: perhaps(Schema.Boolean),
  feedback_required: perhaps(Schema.Boolean),
  challenge: perhaps(Schema.Struct({ api_path: perhaps(Schema.String), url: perhaps(Schema.String) })),
  checkpoint_url: perhaps(Schema.String)
})
export type FailureBody = typeof FailureBody.Type

export const failure = (
  reason: PlatformFailure["reason"],
  detail: string,
  retryAfter: Option.Option<number> = Option.none()
) => new PlatformFailure({ reason, detail, retryAfter })

const seconds = (header: string | undefined): Option.Option<number> =>
  Option.filter(Option.map(Option.fromNullable(header), Number), (value) => Number.isFinite(value) && value > 0)

/** The page that the account's owner has to open. */
export const pageOf = (body: FailureBody): Option.Option<string> =>
  Option.orElse(
    Option.flatMap(body.challenge, ({ url }) => url),
    () => body.checkpoint_url
  )

const proofs = ["challenge_required", "checkpoint_required", "consent_required", "checkpoint_challenge_required"]

const banned = /account has been (disabled|suspended)/i

/**
 * Status and body in the words of the port. Details are ours: they name conditions and repeat nothing that was sent or
 * answered.
 */
export const failureOf = (status: number, body: FailureBody, retryAfter: string | undefined): PlatformFailure => {
  const message = Option.getOrElse(body.message, () => "")
  const type = Option.getOrElse(body.error_type, () => "")
  const page = Option.getOrElse(pageOf(body), () => "")
  const says = (...words: ReadonlyArray<string>) => words.includes(message) || words.includes(type)

  if (status === 429 || says("rate_limit_error") || /please wait a few minutes/i.test(message)) {
    return failure("rate_limited", "the platform asks to wait", seconds(retryAfter))
  }
  if (
    status === 467 ||
    says("needs_upgrade", "unsupported_version") ||
    /out of date/i.test(message) ||
    page.includes("unsupported_version")
  ) {
    return failure("app_version_rejected", "the platform refuses this app version")
  }
  if (says("bad_password")) return failure("bad_password", "the password is wrong")
  if (says("invalid_user")) return failure("unknown_user", "the platform knows no such user")
  if (type.includes("code_invalid") || /check the (security )?code/i.test(message)) {
    return failure("wrong_code", "the code is wrong")
  }
  if (says("inactive user", "inactive_user", "user_disabled") || banned.test(message) || page.includes("/suspended/")) {
    return failure("banned", "the platform has disabled the account")
  }
  if (says("user_has_logged_out")) return failure("logged_out", "the user has logged out")
  if (says("login_required")) return failure("session_expired", "the session has ended")
  if (says(...proofs) || Option.isSome(body.challenge) || Option.isSome(body.checkpoint_url)) {
    return failure("challenge_required", proofs.find((proof) => says(proof)) ?? "challenge_required")
  }
  if (
    says("feedback_required", "sentry_block") ||
    Option.contains(body.spam, true) ||
    Option.contains(body.feedback_required, true)
  ) {
    return failure("action_blocked", "the platform blocks this action for now")
  }
  if (status === 404) return failure("not_found", "no such thing on the platform")
  return failure("unavailable", `the platform answered ${status}`)
}
