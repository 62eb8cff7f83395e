import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Option, Schema } from "effect"

const Epoch = Schema.Struct({ epoch: Schema.Int })
const KeyRow = Schema.Struct({ keyId: Schema.String, sealed: Schema.String })

/** What is kept of sessions that a driver keeps itself: one row of credentials and one for each key, all sealed. */
export class SessionKeyRepo extends Effect.Service<SessionKeyRepo>()("gatehouse/platform/SessionKeyRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /** A new owner: the number that its writes must carry. */
    const claim = Effect.fn("SessionKeyRepo.claim")(
      (channelId: string) => sql`
        INSERT INTO platform_sessions (channel_id, epoch) VALUES (${channelId}, 1)
        ON CONFLICT (channel_id) DO UPDATE SET epoch = platform_sessions.epoch + 1 RETURNING epoch`,
      Effect.flatMap(Schema.decodeUnknown(Schema.NonEmptyArray(Epoch))),
      Effect.map(([{ epoch }]) => epoch),
      Effect.orDie
    )
    const credentials = Effect.fn("SessionKeyRepo.credentials")(
      SqlSchema.findOne({
        Request: Schema.String,
        Result: Schema.Struct({ credentialsSealed: Schema.String }),
        execute: (channelId) => sql`
          SELECT credentials_sealed FROM platform_sessions
          WHERE channel_id = ${channelId} AND credentials_sealed IS NOT NULL`
      }),
      Effect.map(Option.map(({ credentialsSealed }) => credentialsSealed)),
      Effect.orDie
    )
    const keys = Effect.fn("SessionKeyRepo.keys")(
      SqlSchema.findAll({
        Request: Schema.Struct({ channelId: Schema.String, kind: Schema.String, ids: Schema.Array(Schema.String) }),
        Result: KeyRow,
        execute: ({ channelId, ids, kind }) => sql`
          SELECT key_id, sealed FROM platform_session_keys
          WHERE channel_id = ${channelId} AND kind = ${kind} AND key_id = ANY(${ids}::text[])`
      }),
      Effect.orDie
    )
    const keysOfKind = Effect.fn("SessionKeyRepo.keysOfKind")(
      SqlSchema.findAll({
        Request: Schema.Struct({ channelId: Schema.String, kind: Schema.String }),
        Result: KeyRow,
        execute: ({ channelId, kind }) => sql`
          SELECT key_id, sealed FROM platform_session_keys WHERE channel_id = ${channelId} AND kind = ${kind}`
      }),
      Effect.orDie
    )
    /** Locks the session until the transaction ends; false when it has another owner. */
    const owns = Effect.fn("SessionKeyRepo.owns")(
      (channelId: string, epoch: number) => sql`
        SELECT 1 FROM platform_sessions WHERE channel_id = ${channelId} AND epoch = ${epoch}::bigint FOR UPDATE`,
      Effect.map((rows) => rows.length === 1),
      Effect.orDie
    )
    const saveCredentials = Effect.fn("SessionKeyRepo.saveCredentials")(
      (channelId: string, sealed: string) =>
        sql`UPDATE platform_sessions SET credentials_sealed = ${sealed} WHERE channel_id = ${channelId}`,
      Effect.asVoid,
      Effect.orDie
    )
    const saveKeys = Effect.fn("SessionKeyRepo.saveKeys")(
      (
        channelId: string,
        rows: ReadonlyArray<{ readonly kind: string; readonly keyId: string; readonly sealed: string }>
      ) => sql`
        INSERT INTO platform_session_keys (channel_id, kind, key_id, sealed)
        SELECT ${channelId}::uuid, t.kind, t.key_id, t.sealed
        FROM unnest(${rows.map(({ kind }) => kind)}::text[], ${rows.map(({ keyId }) => keyId)}::text[],
          ${rows.map(({ sealed }) => sealed)}::text[]) AS t (kind, key_id, sealed)
        ON CONFLICT (channel_id, kind, key_id) DO UPDATE SET sealed = excluded.sealed`,
      Effect.asVoid,
      Effect.orDie
    )
    const dropKeys = Effect.fn("SessionKeyRepo.dropKeys")(
      (channelId: string, rows: ReadonlyArray<{ readonly kind: string; readonly keyId: string }>) => sql`
        DELETE FROM platform_session_keys k
        USING unnest(${rows.map(({ kind }) => kind)}::text[], ${rows.map(({ keyId }) => keyId)}::text[]) AS t (kind, key_id)
        WHERE k.channel_id = ${channelId} AND k.kind = t.kind AND k.key_id = t.key_id`,
      Effect.asVoid,
      Effect.orDie
    )
    /** All that there is, under a new owner's number, so that nobody writes it back: the number first, as in a write. */
    const forget = Effect.fn("SessionKeyRepo.forget")(
      (channelId: string) => sql`
        WITH emptied AS (
          UPDATE platform_sessions SET epoch = epoch + 1, credentials_sealed = NULL WHERE channel_id = ${channelId}
          RETURNING channel_id
        )
        DELETE FROM platform_session_keys k USING emptied WHERE k.channel_id = emptied.channel_id`,
      Effect.asVoid,
      Effect.orDie
    )
    return { claim, credentials, keys, keysOfKind, owns, saveCredentials, saveKeys, dropKeys, forget } as const
  })
}) {}
