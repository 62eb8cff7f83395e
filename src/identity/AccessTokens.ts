import { Context, Data, DateTime, Effect, Layer, Option, type Redacted } from "effect"
import { nextId } from "../kit/Id.ts"
import * as SecretToken from "../kit/SecretToken.ts"
import { AccessTokenRepo } from "./AccessTokenRepo.ts"
import { type Ability, mayMint } from "./domain/Ability.ts"
import { AccessToken, AccessTokenId, type UserId } from "./domain/User.ts"

const prefix = "gh_pat_"

/** A token cannot hand out abilities that it does not have itself. */
export class AbilitiesExceeded extends Data.TaggedError("AbilitiesExceeded")<{}> {}

export interface IssuedToken {
  readonly record: AccessToken
  readonly token: Redacted.Redacted<string>
}

/** Personal access tokens (subscription management, part 5; contract, part 3): only their digests are stored. */
export class AccessTokens extends Context.Tag("gatehouse/identity/AccessTokens")<
  AccessTokens,
  {
    readonly issue: (input: {
      readonly userId: UserId
      readonly name: string
      readonly abilities: ReadonlyArray<Ability>
      readonly expiresAt: Option.Option<DateTime.Utc>
      readonly mintedBy: ReadonlyArray<Ability>
    }) => Effect.Effect<IssuedToken, AbilitiesExceeded>
    /** None for a token that is malformed, unknown, revoked or expired. */
    readonly authenticate: (token: Redacted.Redacted<string>) => Effect.Effect<Option.Option<AccessToken>>
    readonly page: (
      userId: UserId,
      page: { readonly before: Option.Option<string>; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<AccessToken>>
    readonly revoke: (userId: UserId, id: AccessTokenId) => Effect.Effect<boolean>
  }
>() {
  static readonly layer = Layer.effect(
    AccessTokens,
    Effect.gen(function* () {
      const tokens = yield* AccessTokenRepo

      const issue = Effect.fn("AccessTokens.issue")(function* (input: {
        readonly userId: UserId
        readonly name: string
        readonly abilities: ReadonlyArray<Ability>
        readonly expiresAt: Option.Option<DateTime.Utc>
        readonly mintedBy: ReadonlyArray<Ability>
      }) {
        if (!mayMint(input.mintedBy, input.abilities)) return yield* new AbilitiesExceeded()
        const token = yield* SecretToken.makeToken(prefix)
        const createdAt = yield* DateTime.now
        const record = AccessToken.make({
          id: AccessTokenId.make(yield* nextId),
          userId: input.userId,
          name: input.name,
          abilities: input.abilities,
          expiresAt: input.expiresAt,
          createdAt
        })
        yield* tokens.insert({
          id: record.id,
          userId: record.userId,
          name: record.name,
          abilities: record.abilities,
          digest: SecretToken.digest(token),
          expiresAt: Option.getOrNull(Option.map(record.expiresAt, DateTime.toDateUtc)),
          createdAt: DateTime.toDateUtc(createdAt)
        })
        return { record, token }
      })

      const authenticate = Effect.fn("AccessTokens.authenticate")(function* (token: Redacted.Redacted<string>) {
        if (!SecretToken.isWellFormed(prefix, token)) return Option.none()
        const now = yield* DateTime.now
        const found = yield* tokens.byDigest(SecretToken.digest(token))
        return Option.filter(found, (record) => !Option.exists(record.expiresAt, DateTime.lessThanOrEqualTo(now)))
      })

      return AccessTokens.of({
        issue,
        authenticate,
        page: (userId, { before, limit }) => tokens.page({ userId, before: Option.getOrNull(before), limit }),
        revoke: tokens.remove
      })
    })
  ).pipe(Layer.provide(AccessTokenRepo.Default))
}
