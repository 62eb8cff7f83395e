import { Schema } from "effect"

/** The longest address that SMTP can carry (RFC 5321, 4.5.3.1.3, without the angle brackets). */
export const longestEmail = 254

const label = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"

/** What a browser's e-mail field takes (HTML, "valid e-mail address"); a dotless domain is one. */
const valid = new RegExp(`^[a-zA-Z0-9.!#$%&'*+/=?^_\`{|}~-]+@${label}(?:\\.${label})*$`)

/** An e-mail address, trimmed. Its length is judged first, so that a long text costs no pattern. */
export const Email = Schema.Trim.pipe(
  Schema.maxLength(longestEmail, { message: () => `must have at most ${longestEmail} characters` }),
  Schema.pattern(valid, { message: () => "must be an e-mail address" })
).annotations({
  jsonSchema: { type: "string", format: "email", maxLength: longestEmail, examples: ["ann@example.com"] }
})
