import { Duration, Option, Schema } from "effect"
import { CredentialRejected, PurchaseUnknown, StoreDown, StoreLimited, type StoreTrouble } from "../StoreTrouble.ts"

const ErrorBody = Schema.parseJson(
  Schema.Struct({
    error: Schema.Struct({
      errors: Schema.optionalWith(Schema.Array(Schema.Struct({ reason: Schema.optional(Schema.String) })), {
        default: () => []
      })
    })
  })
)

const limits = /rateLimit|quota|concurrent/i

const gone = ["purchaseTokenDoesNotMatchPackageName", "productNotOwnedByUser"]

const seconds = (header: string | undefined): Option.Option<Duration.Duration> =>
  Option.map(
    Option.filter(Option.fromNullable(header), (text) => /^\d{1,6}$/.test(text.trim())),
    (text) => Duration.seconds(Number(text))
  )

/** What the store asks for when it names no time itself. */
const pause = Duration.seconds(30)

/**
 * What an answer that is no success means. A token that the store does not know is unknown whether it never was (400,
 * 404) or is over (410); missing rights may come later, and limits pass.
 */
export const failureOf = (
  status: number,
  body: string,
  retryAfter: string | undefined
): PurchaseUnknown | StoreTrouble => {
  const reasons = Option.match(Schema.decodeOption(ErrorBody)(body), {
    onNone: () => [],
    onSome: ({ error }) => error.errors.flatMap(({ reason }) => (reason === undefined ? [] : [reason]))
  })
  const isLimit = status === 429 || reasons.some((reason) => limits.test(reason))
  if (isLimit) {
    const detail = `the store asks for a pause (${status})`
    return new StoreLimited({ detail, retryAfter: Option.getOrElse(seconds(retryAfter), () => pause) })
  }
  if (status === 404 || status === 410) return new PurchaseUnknown({ reason: "unknown" })
  if (status === 400 || reasons.some((reason) => gone.includes(reason))) {
    return new PurchaseUnknown({ reason: "another_app" })
  }
  if (status === 401 || status === 403) return new CredentialRejected({ detail: `the store answers ${status}` })
  return new StoreDown({ detail: `the store does not answer as it should (${status})` })
}
