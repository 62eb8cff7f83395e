import { DateTime, Effect, Option, Schema } from "effect"
import { createRemoteJWKSet, errors, jwtVerify } from "jose"
import { NotificationRefused } from "../StoreNotifications.ts"

const issuers = ["https://accounts.google.com", "accounts.google.com"]
const skew = 60

/** Where the push issuer publishes its keys. */
export const pushKeysUrl = "https://www.googleapis.com/oauth2/v3/certs"

const Claims = Schema.Struct({ email: Schema.NonEmptyString, email_verified: Schema.Literal(true), exp: Schema.Number })

const refuse = (reason: NotificationRefused["reason"], detail: string) => new NotificationRefused({ reason, detail })

const reasonOf = (error: unknown): NotificationRefused =>
  error instanceof errors.JWTExpired
    ? refuse("time", "the push token is over")
    : error instanceof errors.JWTClaimValidationFailed
      ? refuse("signature", `the push token has another ${error.claim}`)
      : refuse("signature", "the push token is not signed by the push issuer")

/**
 * Verifies the bearer token of a push: signature by a key of the issuer, issuer, audience, expiry, and the one e-mail
 * address that may push, because anyone can obtain a token of that issuer for any audience (contract, part 3, "Store
 * notifications"). Keys are kept for 10 minutes, and asked for again when a token names a new one.
 */
export const makePushToken = (options: { readonly keysUrl: string }) => {
  const keys = createRemoteJWKSet(new URL(options.keysUrl), { timeoutDuration: 5000 })

  return Effect.fn("PushToken.verify")(function* (
    authorization: Option.Option<string>,
    expected: { readonly audience: string; readonly email: Option.Option<string> }
  ) {
    if (Option.isNone(expected.email)) return yield* refuse("signature", "no e-mail address is known that may push")
    const token = /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(Option.getOrElse(authorization, () => ""))?.[1]
    if (token === undefined) return yield* refuse("signature", "the push carries no token")
    const currentDate = DateTime.toDateUtc(yield* DateTime.now)
    const { payload } = yield* Effect.tryPromise({
      try: () =>
        jwtVerify(token, keys, {
          algorithms: ["RS256"],
          issuer: issuers,
          audience: expected.audience,
          clockTolerance: skew,
          currentDate
        }),
      catch: reasonOf
    })
    const claims = yield* Effect.mapError(Schema.decodeUnknown(Claims)(payload), () =>
      refuse("signature", "the push token names no verified e-mail address")
    )
    if (claims.email.toLowerCase() !== expected.email.value.toLowerCase()) {
      return yield* refuse("signature", "the push token is of another account")
    }
  })
}
