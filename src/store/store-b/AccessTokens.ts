import { HttpClient, HttpClientRequest } from "@effect/platform"
import { createPrivateKey } from "node:crypto"
import { Cache, Clock, Data, Duration, Effect, Exit, Redacted, Schema } from "effect"
import { SignJWT } from "jose"
import type { ServiceAccount } from "../domain/ServiceAccount.ts"
import { CredentialRejected, StoreAnswerWrong, StoreDown } from "../StoreTrouble.ts"
import { failureOf } from "./Failures.ts"

const scope = "https://www.googleapis.com/auth/androidpublisher"
const grant = "urn:ietf:params:oauth:grant-type:jwt-bearer"
const lifetime = 3600
const early = Duration.minutes(5)
const accountsKept = 1000

const TokenAnswer = Schema.parseJson(
  Schema.Struct({
    access_token: Schema.NonEmptyString,
    expires_in: Schema.optionalWith(Schema.Number, { default: () => lifetime })
  })
)

/** One account by what it is: another key or another address is another account. */
class Account extends Data.Class<{
  readonly email: string
  readonly key: string
  readonly keyId: string | undefined
  readonly tokenUri: string
}> {}

const down = (detail: string) => new StoreDown({ detail })

/**
 * Access tokens of service accounts: a signed assertion for a token (RFC 7523). One token for each account, kept until 5
 * minutes before it ends; whoever asks meanwhile waits for the one request that is under way. Failures are not kept.
 */
export const makeAccessTokens = Effect.gen(function* () {
  const client = yield* HttpClient.HttpClient

  const obtain = Effect.fn("AccessTokens.obtain")(function* ({ email, key, keyId, tokenUri }: Account) {
    const issuedAt = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    const assertion = yield* Effect.tryPromise({
      try: () =>
        new SignJWT({ scope })
          .setProtectedHeader({ alg: "RS256", typ: "JWT", ...(keyId === undefined ? {} : { kid: keyId }) })
          .setIssuer(email)
          .setAudience(tokenUri)
          .setIssuedAt(issuedAt)
          .setExpirationTime(issuedAt + lifetime)
          .sign(createPrivateKey(key)),
      catch: () => new CredentialRejected({ detail: "the account's key does not sign" })
    })
    const response = yield* HttpClientRequest.post(tokenUri).pipe(
      HttpClientRequest.bodyUrlParams({ grant_type: grant, assertion }),
      client.execute,
      Effect.mapError(() => down("the token endpoint cannot be reached"))
    )
    const text = yield* Effect.mapError(response.text, () => down("the token endpoint broke off"))
    if (response.status === 400) {
      return yield* new CredentialRejected({ detail: "the token endpoint does not know the account" })
    }
    if (response.status !== 200) return yield* failureOf(response.status, text, response.headers["retry-after"])
    const answer = yield* Effect.mapError(
      Schema.decode(TokenAnswer)(text),
      () => new StoreAnswerWrong({ detail: "the token endpoint answered without a token" })
    )
    return { token: Redacted.make(answer.access_token), lasts: Duration.seconds(answer.expires_in) }
  }, Effect.withTracerEnabled(false))

  const cache = yield* Cache.makeWith({
    capacity: accountsKept,
    lookup: obtain,
    timeToLive: Exit.match({
      onFailure: () => Duration.zero,
      onSuccess: ({ lasts }) => Duration.subtract(lasts, early)
    })
  })

  const accountOf = (account: ServiceAccount) =>
    new Account({
      email: account.client_email,
      key: Redacted.value(account.private_key),
      keyId: account.private_key_id,
      tokenUri: account.token_uri
    })

  return {
    of: (account: ServiceAccount) => {
      const key = accountOf(account)
      return Effect.tapError(cache.get(key), () => cache.invalidate(key)).pipe(Effect.map(({ token }) => token))
    },
    /** The store did not take the token: the next caller gets a new one. */
    forget: (account: ServiceAccount) => cache.invalidate(accountOf(account))
  } as const
})
