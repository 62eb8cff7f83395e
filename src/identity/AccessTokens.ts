import { Array, Context, Data, DateTime, Duration, Effect, Layer, Option, type Redacted } from "effect"
import { nextId } from "../kit/Id.ts"
import * as SecretToken from "../kit/SecretToken.ts"
import { AccessTokenRepo } from "./AccessTokenRepo.ts"
import { type Ability, mayMint } from "./domain/Ability.ts"
import { AccessToken, AccessTokenId, type Caller, type UserId } from "./domain/User.ts"

const prefix = "gh_pat_"

/** `last_used_at` is as exact as this: a note of every use would make each call a write. */
const usePrecision = Duration.minutes(5)

/** A token cannot hand out abilities that it does not have, nor revoke a token that has them. */
export class AbilitiesExceeded extends Data.TaggedError("AbilitiesExceeded")<{}> {}
/** No such token, or one of another user: the two look alike. */
export class TokenNotFound extends Data.TaggedError("TokenNotFound")<{}> {}

export interface IssuedToken {
  readonly record: AccessToken
  readonly token: Redacted.Redacted<string>
}

export interface TokenFields {
  readonly name: string
  readonly abilities: ReadonlyArray<Ability>
  /** None never expires. */
  readonly expiresAt: Option.Option<DateTime.Utc>
}

/** None is later than every time. */
const earliest = (one: Option.Option<DateTime.Utc>, other: Option.Option<DateTime.Utc>) =>
  Option.orElse(Option.zipWith(one, other, DateTime.min<DateTime.Utc, DateTime.Utc>), () =>
    Option.orElse(one, () => other)
  )

type TokenBearer = Pick<Caller, "userId" | "tokenId" | "abilities">

/** Personal access tokens (subscription management, part 5; contract, part 3): only their digests are stored. */
export class AccessTokens extends Context.Tag("gatehouse/identity/AccessTokens")<
  AccessTokens,
  {
    /** A token for a user who has just proved who he is. */
    readonly issue: (userId: UserId, fields: TokenFields) => Effect.Effect<IssuedToken>
    /** A token asked for with another one: it can do no more, and lives no longer, than that. */
    readonly mint: (bearer: TokenBearer, fields: TokenFields) => Effect.Effect<IssuedToken, AbilitiesExceeded>
    /** None for a token that is malformed, unknown, revoked or expired. Notes the use. */
    readonly authenticate: (token: Redacted.Redacted<string>) => Effect.Effect<Option.Option<AccessToken>>
    readonly page: (
      userId: UserId,
      page: { readonly before: Option.Option<string>; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<AccessToken>>
    /** Ends a token of the same user: the presented one, or one that it could have minted. */
    readonly revoke: (bearer: TokenBearer, id: AccessTokenId) => Effect.Effect<void, TokenNotFound | AbilitiesExceeded>
  }
>() {
  static readonly layer = Layer.effect(
    AccessTokens,
    Effect.gen(function* () {
      const tokens = yield* AccessTokenRepo

      const issue = Effect.fn("AccessTokens.issue")(function* (userId: UserId, fields: TokenFields) {
        const token = yield* SecretToken.makeToken(prefix)
        const record = AccessToken.make({
          id: AccessTokenId.make(yield* nextId),
          userId,
          name: fields.name,
          abilities: Array.dedupe(fields.abilities),
          expiresAt: fields.expiresAt,
          lastUsedAt: Option.none(),
          createdAt: yield* DateTime.now
        })
        yield* tokens.insert(record, SecretToken.digest(token))
        return { record, token }
      })

      const mint = Effect.fn("AccessTokens.mint")(function* (bearer: TokenBearer, fields: TokenFields) {
        if (!mayMint(bearer.abilities, fields.abilities)) return yield* new AbilitiesExceeded()
        const found = yield* tokens.byId({ userId: bearer.userId, id: bearer.tokenId })
        const { expiresAt } = yield* Effect.mapError(found, () => new AbilitiesExceeded())
        return yield* issue(bearer.userId, { ...fields, expiresAt: earliest(expiresAt, fields.expiresAt) })
      })

      const noteUse = Effect.fn("AccessTokens.noteUse")(function* (record: AccessToken, now: DateTime.Utc) {
        const staleBefore = DateTime.subtractDuration(now, usePrecision)
        if (Option.exists(record.lastUsedAt, DateTime.greaterThanOrEqualTo(staleBefore))) return
        yield* tokens.touch(record.id, DateTime.toDateUtc(now), DateTime.toDateUtc(staleBefore))
      })

      const authenticate = Effect.fn("AccessTokens.authenticate")(function* (token: Redacted.Redacted<string>) {
        if (!SecretToken.isWellFormed(prefix, token)) return Option.none()
        const now = yield* DateTime.now
        const found = yield* tokens.byDigest(SecretToken.digest(token))
        const valid = Option.filter(
          found,
          ({ expiresAt }) => !Option.exists(expiresAt, DateTime.lessThanOrEqualTo(now))
        )
        if (Option.isSome(valid)) yield* noteUse(valid.value, now)
        return valid
      })

      const revoke = Effect.fn("AccessTokens.revoke")(function* (bearer: TokenBearer, id: AccessTokenId) {
        const found = yield* tokens.byId({ userId: bearer.userId, id })
        const { abilities } = yield* Effect.mapError(found, () => new TokenNotFound())
        const isOwn = id === bearer.tokenId
        if (!isOwn && !mayMint(bearer.abilities, abilities)) return yield* new AbilitiesExceeded()
        const isGone = yield* tokens.remove(bearer.userId, id)
        if (!isGone) return yield* new TokenNotFound()
      })

      return AccessTokens.of({
        issue,
        mint,
        authenticate,
        page: (userId, { before, limit }) => tokens.page({ userId, before: Option.getOrNull(before), limit }),
        revoke
      })
    })
  ).pipe(Layer.provide(AccessTokenRepo.Default))
}
