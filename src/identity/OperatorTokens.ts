import { SqlClient } from "@effect/sql"
import { Context, DateTime, Duration, Effect, Layer, Option, Redacted, Schema } from "effect"
import { jwtVerify, SignJWT } from "jose"
import { nextId } from "../kit/Id.ts"
import { UserId } from "./domain/User.ts"

const issuer = "gatehouse"
const audience = "gateway"

export const lifetime = Duration.hours(12)

const Claims = Schema.Struct({ sub: UserId, jti: Schema.UUID, exp: Schema.Int })

/** Operator tokens of the gateway (contract, part 4, "Access"): HS256, revocable by `jti`. */
export class OperatorTokens extends Context.Tag("gatehouse/identity/OperatorTokens")<
  OperatorTokens,
  {
    readonly issue: (
      userId: UserId
    ) => Effect.Effect<{ readonly token: Redacted.Redacted<string>; readonly expiresAt: DateTime.Utc }>
    /** None for a token that is forged, expired, revoked or whose user is no operator (any more). */
    readonly authenticate: (
      token: Redacted.Redacted<string>
    ) => Effect.Effect<Option.Option<{ readonly userId: UserId; readonly tokenId: string }>>
    readonly revoke: (tokenId: string) => Effect.Effect<void>
  }
>() {
  static readonly layer = (secret: Redacted.Redacted<string>) =>
    Layer.effect(
      OperatorTokens,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const key = new TextEncoder().encode(Redacted.value(secret))

        const issue = Effect.fn("OperatorTokens.issue")(function* (userId: UserId) {
          const now = yield* DateTime.now
          const expiresAt = DateTime.addDuration(now, lifetime)
          const jti = yield* nextId
          const token = yield* Effect.promise(() =>
            new SignJWT()
              .setProtectedHeader({ alg: "HS256", typ: "JWT" })
              .setIssuer(issuer)
              .setAudience(audience)
              .setSubject(userId)
              .setJti(jti)
              .setIssuedAt(DateTime.toDateUtc(now))
              .setExpirationTime(DateTime.toDateUtc(expiresAt))
              .sign(key)
          )
          return { token: Redacted.make(token), expiresAt }
        })

        const authenticate = Effect.fn("OperatorTokens.authenticate")(function* (token: Redacted.Redacted<string>) {
          const now = yield* DateTime.now
          const verified = yield* Effect.option(
            Effect.tryPromise(() =>
              jwtVerify(Redacted.value(token), key, {
                algorithms: ["HS256"],
                issuer,
                audience,
                currentDate: DateTime.toDateUtc(now)
              })
            )
          )
          const claims = Option.flatMap(verified, ({ payload }) => Schema.decodeUnknownOption(Claims)(payload))
          if (Option.isNone(claims)) return Option.none()
          const { jti, sub } = claims.value
          const rows = yield* Effect.orDie(sql`
            SELECT 1 FROM users WHERE id = ${sub} AND is_operator
            AND NOT EXISTS (SELECT 1 FROM revoked_operator_tokens WHERE jti = ${jti})`)
          return rows.length === 1 ? Option.some({ userId: sub, tokenId: jti }) : Option.none()
        })

        const revoke = Effect.fn("OperatorTokens.revoke")(function* (tokenId: string) {
          const expiresAt = DateTime.toDateUtc(DateTime.addDuration(yield* DateTime.now, lifetime))
          yield* sql`
            INSERT INTO revoked_operator_tokens ${sql.insert({ jti: tokenId, expiresAt })} ON CONFLICT DO NOTHING`
        }, Effect.orDie)

        return OperatorTokens.of({ issue, authenticate, revoke })
      })
    )
}
