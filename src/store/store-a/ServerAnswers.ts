import { Duration, Either, Number, Option, Schema } from "effect"
import { CredentialRejected, PurchaseUnknown, StoreAnswerWrong, StoreDown, StoreLimited } from "../StoreTrouble.ts"

/** The store knows no address to push notifications to: nobody entered one there. */
export const noNotificationUrl = 4040007

const notFound = [4040001, 4040005, 4040010, 4000006, 4000008]
const again = [4040002, 4040004, 4040006, 5000001]

const ErrorBody = Schema.parseJson(Schema.Struct({ errorCode: Schema.Number, errorMessage: Schema.String }))

const shortest = Duration.seconds(1)
const longest = Duration.hours(1)

/** `Retry-After` of this store is a moment, in milliseconds since 1970; a wait between a second and an hour. */
const pauseOf = (retryAfter: string | undefined, now: number): Duration.Duration =>
  Duration.clamp(
    Duration.millis(
      Option.match(Option.flatMap(Option.fromNullable(retryAfter), Number.parse), {
        onNone: () => 60_000,
        onSome: (moment) => Math.max(0, moment - now)
      })
    ),
    { minimum: shortest, maximum: longest }
  )

export interface ServerAnswer {
  readonly status: number
  readonly body: string
  readonly retryAfter: string | undefined
}

/** The store's own number for what is wrong, where it gave one. */
export const errorCodeOf = ({ body }: ServerAnswer): Option.Option<number> =>
  Option.map(Schema.decodeOption(ErrorBody)(body), ({ errorCode }) => errorCode)

/** What an answer other than 200 means; total. `now` is in milliseconds since 1970. */
export const failureOf = (answer: ServerAnswer, now: number) => {
  const code = errorCodeOf(answer)
  const detail = `status ${answer.status}${Option.match(code, { onNone: () => "", onSome: (number) => `, error ${number}` })}`
  if (answer.status === 401 || answer.status === 403) return new CredentialRejected({ detail })
  if (answer.status === 429) return new StoreLimited({ detail, retryAfter: pauseOf(answer.retryAfter, now) })
  if (answer.status >= 500 || Option.exists(code, (number) => again.includes(number))) return new StoreDown({ detail })
  if (Option.exists(code, (number) => notFound.includes(number))) return new PurchaseUnknown({ reason: "unknown" })
  return new StoreAnswerWrong({ detail })
}

const PageFields = { hasMore: Schema.optionalWith(Schema.Boolean, { default: () => false }) }

export const TransactionInfo = Schema.Struct({ signedTransactionInfo: Schema.NonEmptyString })

/** `StatusResponse`: the newest transaction of every purchase chain of the same customer. */
export const Statuses = Schema.Struct({
  bundleId: Schema.String,
  environment: Schema.String,
  data: Schema.Array(
    Schema.Struct({
      lastTransactions: Schema.Array(
        Schema.Struct({
          status: Schema.Number,
          originalTransactionId: Schema.NonEmptyString,
          signedTransactionInfo: Schema.NonEmptyString,
          signedRenewalInfo: Schema.NonEmptyString
        })
      )
    })
  )
})

export const TransactionHistory = Schema.Struct({
  ...PageFields,
  revision: Schema.optional(Schema.String),
  signedTransactions: Schema.Array(Schema.NonEmptyString)
})

export const NotificationHistory = Schema.Struct({
  ...PageFields,
  paginationToken: Schema.optional(Schema.String),
  notificationHistory: Schema.Array(Schema.Struct({ signedPayload: Schema.NonEmptyString }))
})

export const TestRequested = Schema.Struct({ testNotificationToken: Schema.NonEmptyString })

export const TestStatus = Schema.Struct({
  signedPayload: Schema.NonEmptyString,
  sendAttempts: Schema.optionalWith(
    Schema.Array(Schema.Struct({ attemptDate: Schema.Number, sendAttemptResult: Schema.String })),
    { default: () => [] }
  )
})

export const decodeAnswer = <A, I>(schema: Schema.Schema<A, I>, body: string): Either.Either<A, StoreAnswerWrong> =>
  Either.mapLeft(
    Schema.decodeEither(Schema.parseJson(schema))(body),
    () => new StoreAnswerWrong({ detail: "an answer of another shape" })
  )
