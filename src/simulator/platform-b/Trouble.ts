import { HttpServerResponse } from "@effect/platform"
import { fail } from "./Wire.ts"
import type { Condition, SimulatedAccount } from "./World.ts"

const challengePath = (pk: string) => `/challenge/${pk}/nonce/`

/** What the platform says to whoever has to prove that it is him. */
export const challenge = ({ pk }: SimulatedAccount) =>
  fail({
    message: "challenge_required",
    challenge: { api_path: challengePath(pk), url: `https://simulated/challenge/${pk}/`, lock: true }
  })

const everywhere: {
  readonly [condition in Condition]?: () => HttpServerResponse.HttpServerResponse
} = {
  banned: () =>
    fail({ error_type: "inactive user", message: "Your account has been disabled for violating our terms." }),
  rate_limited: () =>
    HttpServerResponse.unsafeJson(
      { message: "Please wait a few minutes before you try again.", status: "fail" },
      { status: 429, headers: { "retry-after": "60" } }
    ),
  outdated: () => fail({ message: "Your version of the app is out of date.", error_type: "needs_upgrade" }, 467),
  away: () => fail({ message: "Oops, an error occurred." }, 503)
}

/** How the account's condition answers any call, a login included; undefined lets the call through. */
export const answerToAll = (account: SimulatedAccount) => everywhere[account.condition]?.()

/** How it answers a call of a session. */
export const answerToSession = (account: SimulatedAccount) => {
  if (account.condition === "challenged") return challenge(account)
  if (account.condition === "logged_out") return fail({ message: "user_has_logged_out" }, 403)
  return answerToAll(account)
}

/** How it answers a message that is to be sent. */
export const answerToSending = (account: SimulatedAccount) =>
  account.condition === "blocked"
    ? fail({ message: "feedback_required", spam: true, feedback_title: "Try again later" })
    : undefined
