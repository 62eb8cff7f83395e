import { Duration, Option, Schema } from "effect"
import { StoreFailure } from "../StoreB.ts"

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

/**
 * What an answer that is no success means. A token that the store does not know is `not_found` whether it never was (400,
 * 404) or is over (410); missing rights may come later, and limits pass.
 */
export const failureOf = (status: number, body: string, retryAfter: string | undefined): StoreFailure => {
  const reasons = Option.match(Schema.decodeOption(ErrorBody)(body), {
    onNone: () => [],
    onSome: ({ error }) => error.errors.flatMap(({ reason }) => (reason === undefined ? [] : [reason]))
  })
  const isLimit = reasons.some((reason) => limits.test(reason))
  const failure = (reason: StoreFailure["reason"], detail: string) =>
    new StoreFailure({ reason, detail: `${detail} (${status})`, retryAfter: seconds(retryAfter) })
  if (status === 404 || status === 410) return failure("not_found", "the store knows no such purchase")
  if (status === 400 || reasons.some((reason) => gone.includes(reason))) {
    return failure("not_found", "the store takes the purchase for none of this package")
  }
  if ((status === 401 || status === 403) && !isLimit) return failure("refused", "the store refuses the credential")
  return failure("unavailable", "the store does not answer as it should")
}
