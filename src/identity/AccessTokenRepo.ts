import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
import { AccessToken, AccessTokenId, UserId } from "./domain/User.ts"

export class AccessTokenRepo extends Effect.Service<AccessTokenRepo>()("gatehouse/identity/AccessTokenRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const insert = Effect.fn("AccessTokenRepo.insert")(function* (token: AccessToken, digest: string) {
      const row = yield* Schema.encode(AccessToken)(token)
      yield* sql`INSERT INTO access_tokens ${sql.insert({ ...row, digest })}`
    }, Effect.orDie)
    const byDigest = Effect.fn("AccessTokenRepo.byDigest")(
      SqlSchema.findOne({
        Request: Schema.String,
        Result: AccessToken,
        execute: (digest) => sql`SELECT * FROM access_tokens WHERE digest = ${digest}`
      }),
      Effect.orDie
    )
    const byId = Effect.fn("AccessTokenRepo.byId")(
      SqlSchema.findOne({
        Request: Schema.Struct({ userId: UserId, id: AccessTokenId }),
        Result: AccessToken,
        execute: ({ id, userId }) => sql`SELECT * FROM access_tokens WHERE id = ${id} AND user_id = ${userId}`
      }),
      Effect.orDie
    )
    /** Of several callers who come at once, one writes. */
    const touch = Effect.fn("AccessTokenRepo.touch")(
      (id: AccessTokenId, now: Date, staleBefore: Date) => sql`
        UPDATE access_tokens SET last_used_at = ${now}
        WHERE id = ${id} AND (last_used_at IS NULL OR last_used_at < ${staleBefore})`,
      Effect.asVoid,
      Effect.orDie
    )
    const page = Effect.fn("AccessTokenRepo.page")(
      SqlSchema.findAll({
        Request: Schema.Struct({ userId: UserId, before: Schema.NullOr(Schema.UUID), limit: Schema.Int }),
        Result: AccessToken,
        execute: ({ before, limit, userId }) => sql`
          SELECT * FROM access_tokens WHERE user_id = ${userId} AND (${before}::uuid IS NULL OR id < ${before}::uuid)
          ORDER BY id DESC LIMIT ${limit}`
      }),
      Effect.orDie
    )
    const remove = Effect.fn("AccessTokenRepo.remove")(
      (userId: UserId, id: AccessTokenId) =>
        sql`DELETE FROM access_tokens WHERE id = ${id} AND user_id = ${userId} RETURNING id`,
      Effect.map((rows) => rows.length === 1),
      Effect.orDie
    )
    return { insert, byDigest, byId, touch, page, remove } as const
  })
}) {}
