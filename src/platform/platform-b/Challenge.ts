import { Data, Effect, Option, Redacted } from "effect"
import { failure } from "./Failures.ts"
import { deviceForm, LoginAnswer, type SignedIn } from "./LoginAnswer.ts"
import { failureIn, type Line, shaped } from "./PrivateApi.ts"

/** Where a challenge stands: a code is on its way, the platform is content, or only the owner can go on, on a page. */
export type Standing = Data.TaggedEnum<{
  CodeAsked: { readonly contactPoint: Option.Option<string> }
  Passed: { readonly signedIn: Option.Option<SignedIn> }
  OwnerNeeded: {}
}>
export const Standing = Data.taggedEnum<Standing>()

const codeSteps = ["verify_code", "verify_email", "verify_email_code", "verify_sms_code"]
const selectMethod = "select_verify_method"
const wasItYou = "delta_login_review"
const sms = "0"
const email = "1"

const path = (apiPath: string) => `/api/v1${apiPath}`

const standingOf = (answer: LoginAnswer): Standing => {
  if (Option.contains(answer.action, "close") || Option.isSome(answer.logged_in_user)) {
    return Standing.Passed({ signedIn: answer.logged_in_user })
  }
  if (!Option.exists(answer.step_name, (step) => codeSteps.includes(step))) return Standing.OwnerNeeded()
  const contactPoint = Option.flatMap(answer.step_data, (data) =>
    Option.firstSomeOf([data.contact_point, data.email, data.phone_number])
  )
  return Standing.CodeAsked({ contactPoint })
}

/** Where to send the code: by e-mail when the account has one, else by SMS, else as the platform proposes. */
const methodOf = (answer: LoginAnswer): string => {
  const data = Option.getOrUndefined(answer.step_data)
  if (data === undefined || Option.isSome(data.email)) return email
  return Option.isSome(data.phone_number) ? sms : Option.getOrElse(data.choice, () => email)
}

/**
 * Asks what the challenge is and has a code sent. Who logs in just now is who is asked "was it you", so that is answered
 * with yes.
 */
export const begin = Effect.fn("Challenge.begin")(function* (line: Line, apiPath: string) {
  const device = deviceForm(yield* line.state)
  const first = yield* line.exchange({ method: "GET", path: path(apiPath), query: device })
  if (first.status >= 300) {
    const reason = failureIn(first)
    return reason.reason === "challenge_required" ? Standing.OwnerNeeded() : yield* reason
  }
  const answer = yield* shaped(LoginAnswer)(first)
  const step = Option.getOrElse(answer.step_name, () => "")
  if (step !== selectMethod && step !== wasItYou) return standingOf(answer)
  const choice = step === wasItYou ? "0" : methodOf(answer)
  const chosen = yield* line.call({ method: "POST", path: path(apiPath), form: { ...device, choice } })
  return standingOf(yield* shaped(LoginAnswer)(chosen))
})

/** Hands the code in. The platform answers a wrong one in several ways, all of them 400. */
export const answer = Effect.fn("Challenge.answer")(function* (
  line: Line,
  apiPath: string,
  code: Redacted.Redacted<string>
) {
  const form = { ...deviceForm(yield* line.state), security_code: Redacted.value(code).replace(/\s/g, "") }
  const reply = yield* line.exchange({ method: "POST", path: path(apiPath), form })
  if (reply.status < 300) return standingOf(yield* shaped(LoginAnswer)(reply))
  const reason = failureIn(reply)
  const isWrong = reply.status === 400 && ["unavailable", "challenge_required"].includes(reason.reason)
  return yield* isWrong ? failure("wrong_code", "the code is wrong") : reason
})
