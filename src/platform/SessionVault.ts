import { SqlClient } from "@effect/sql"
import { Array, Context, Data, Effect, Either, Layer, Option, Redacted } from "effect"
import { Seal } from "../kit/Seal.ts"
import { SessionKeyRepo } from "./SessionKeyRepo.ts"

/** Somebody else has opened the session since: what this owner knows of it is out of date. */
export class NotOwner extends Data.TaggedError("NotOwner")<{ readonly channelId: string }> {}

/** The right to write a session, until the next claim. */
export interface Claim {
  readonly channelId: string
  readonly epoch: number
}

export interface Key {
  readonly keyId: string
  readonly value: Redacted.Redacted<string>
}

/** A key to keep; `null` drops it. */
export interface KeyChange {
  readonly kind: string
  readonly keyId: string
  readonly value: string | null
}

/**
 * Where a driver keeps the session of a channel that is made of many small keys. Each is sealed for its own place, so that
 * none can be moved to another session; a `write` is one transaction and only its owner's. A key that cannot be read is a
 * defect, never an absent one: the platform would be told that we lost it.
 */
export class SessionVault extends Context.Tag("gatehouse/platform/SessionVault")<
  SessionVault,
  {
    readonly claim: (channelId: string) => Effect.Effect<Claim>
    readonly credentials: (channelId: string) => Effect.Effect<Option.Option<Redacted.Redacted<string>>>
    readonly keys: (channelId: string, kind: string, ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Key>>
    readonly keysOfKind: (channelId: string, kind: string) => Effect.Effect<ReadonlyArray<Key>>
    readonly write: (
      claim: Claim,
      changes: {
        readonly credentials: Option.Option<Redacted.Redacted<string>>
        readonly keys: ReadonlyArray<KeyChange>
      }
    ) => Effect.Effect<void, NotOwner>
    readonly forget: (channelId: string) => Effect.Effect<void>
  }
>() {
  static readonly layer = Layer.effect(
    SessionVault,
    Effect.gen(function* () {
      const repo = yield* SessionKeyRepo
      const seal = yield* Seal
      const sql = yield* SqlClient.SqlClient

      const place = (channelId: string, kind: string, keyId: string) => `${channelId}/${kind}/${keyId}`
      const credentialsPlace = (channelId: string) => place(channelId, "credentials", "")

      const credentials = Effect.fn("SessionVault.credentials")(function* (channelId: string) {
        const sealed = yield* repo.credentials(channelId)
        return yield* Effect.transposeMapOption(sealed, (text) =>
          Effect.orDie(seal.open(text, credentialsPlace(channelId)))
        )
      })

      const opened = (channelId: string, kind: string) =>
        Effect.forEach(({ keyId, sealed }: { readonly keyId: string; readonly sealed: string }) =>
          Effect.map(Effect.orDie(seal.open(sealed, place(channelId, kind, keyId))), (value) => ({ keyId, value }))
        )

      const keys = Effect.fn("SessionVault.keys")(function* (
        channelId: string,
        kind: string,
        ids: ReadonlyArray<string>
      ) {
        return yield* opened(channelId, kind)(yield* repo.keys({ channelId, kind, ids }))
      })

      const keysOfKind = Effect.fn("SessionVault.keysOfKind")(function* (channelId: string, kind: string) {
        return yield* opened(channelId, kind)(yield* repo.keysOfKind({ channelId, kind }))
      })

      const write = Effect.fn("SessionVault.write")(
        function* (
          { channelId, epoch }: Claim,
          changes: {
            readonly credentials: Option.Option<Redacted.Redacted<string>>
            readonly keys: ReadonlyArray<KeyChange>
          }
        ) {
          if (!(yield* repo.owns(channelId, epoch))) return yield* new NotOwner({ channelId })
          if (Option.isSome(changes.credentials)) {
            const sealed = yield* seal.seal(changes.credentials.value, credentialsPlace(channelId))
            yield* repo.saveCredentials(channelId, sealed)
          }
          const [dropped, kept] = Array.partitionMap(changes.keys, ({ keyId, kind, value }) =>
            value === null ? Either.left({ kind, keyId }) : Either.right({ kind, keyId, value })
          )
          const rows = yield* Effect.forEach(kept, ({ keyId, kind, value }) =>
            Effect.map(seal.seal(Redacted.make(value), place(channelId, kind, keyId)), (sealed) => ({
              kind,
              keyId,
              sealed
            }))
          )
          if (rows.length > 0) yield* repo.saveKeys(channelId, rows)
          if (dropped.length > 0) yield* repo.dropKeys(channelId, dropped)
        },
        (effect) => sql.withTransaction(effect),
        Effect.catchTag("SqlError", Effect.die)
      )

      return SessionVault.of({
        claim: (channelId) => Effect.map(repo.claim(channelId), (epoch) => ({ channelId, epoch })),
        credentials,
        keys,
        keysOfKind,
        write,
        forget: repo.forget
      })
    })
  ).pipe(Layer.provide(SessionKeyRepo.Default))
}
