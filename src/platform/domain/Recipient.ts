import { Either } from "effect"
import type { PlatformName } from "./PlatformEvent.ts"

const byThread = /^(pb:\d{1,40}|pbuser:[\w.]{1,64})$/
const digits = /^\+?\d{5,20}$/
const byAddress = /^[\d-]{5,40}@(s\.whatsapp\.net|lid|g\.us)$/

/** A recipient as a caller names it, in the form that chats have, or a sentence about what it must be (gateway, part 4). */
export const recipient = (platform: PlatformName, to: string): Either.Either<string, string> => {
  if (platform === "platform_b") {
    return byThread.test(to) ? Either.right(to) : Either.left("must be pb:<thread_id> or pbuser:<username>")
  }
  if (digits.test(to)) return Either.right(`${to.replace("+", "")}@s.whatsapp.net`)
  return byAddress.test(to) ? Either.right(to) : Either.left("must be a jid or the digits of a phone number")
}
