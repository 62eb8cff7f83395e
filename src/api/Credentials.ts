import { Schema } from "effect"
import { longestEmail } from "../identity/domain/Email.ts"
import { fields } from "./Envelope.ts"

const longestPassword = 1024

/** A password that somebody chooses. */
export const NewPassword = Schema.Redacted(
  Schema.String.pipe(
    Schema.minLength(8, { message: () => "must have at least 8 characters" }),
    Schema.maxLength(longestPassword, { message: () => `must have at most ${longestPassword} characters` })
  )
).annotations({ description: "8 to 1024 characters; kept as argon2id only" })

/**
 * What a login is asked with. Any text is tried: only what nobody can have registered with (too long, or with control
 * characters) is refused beforehand.
 */
export const Credentials = fields({
  email: Schema.Trim.pipe(
    Schema.minLength(1, { message: () => "must not be empty" }),
    Schema.maxLength(longestEmail, { message: () => `must have at most ${longestEmail} characters` }),
    Schema.filter((email) => !/\p{Cc}/u.test(email) || "must not contain control characters")
  ).annotations({ description: "Upper and lower case are the same", examples: ["ann@example.com"] }),
  password: Schema.Redacted(
    Schema.String.pipe(
      Schema.maxLength(longestPassword, { message: () => `must have at most ${longestPassword} characters` })
    )
  )
})
