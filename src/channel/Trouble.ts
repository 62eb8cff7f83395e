import type { PlatformFailure } from "../platform/Platform.ts"

/**
 * What a channel does about a failure of its platform.
 * - `wait`: nothing is known to be wrong with the channel; try again, later each time
 * - `rest`: the platform asked to slow down; neither poll nor send for a while
 * - `freeze`: sending was blocked as an action; do not send for hours, poll on
 * - `refuse`: this message will never be accepted
 * - `end`: the session is over; stop and tell (`error`)
 * - `challenge`: the owner must prove himself; stop and tell (`challenge_required`), never log in by itself
 */
export type Reaction = "wait" | "rest" | "freeze" | "refuse" | "end" | "challenge"

type Reason = PlatformFailure["reason"]

const ofSending: { readonly [reason in Reason]: Reaction } = {
  bad_password: "wait",
  unknown_user: "refuse",
  wrong_code: "wait",
  text_too_long: "refuse",
  rate_limited: "rest",
  action_blocked: "freeze",
  session_expired: "end",
  logged_out: "end",
  banned: "end",
  challenge_required: "challenge",
  app_version_rejected: "end",
  not_found: "refuse",
  driver_missing: "end",
  unavailable: "wait"
}

export const whileSending = ({ reason }: PlatformFailure): Reaction => ofSending[reason]

export const whilePolling = ({ reason }: PlatformFailure): Exclude<Reaction, "freeze" | "refuse"> => {
  const reaction = ofSending[reason]
  return reaction === "freeze" ? "rest" : reaction === "refuse" ? "wait" : reaction
}
