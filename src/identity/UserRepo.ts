import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
import { User, UserId } from "./domain/User.ts"

const UserWithHash = Schema.Struct({ ...User.fields, passwordHash: Schema.String })

export class UserRepo extends Effect.Service<UserRepo>()("gatehouse/identity/UserRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const insert = Effect.fn("UserRepo.insert")(
      (row: { id: UserId; name: string; email: string; passwordHash: string; isOperator: boolean; createdAt: Date }) =>
        sql`INSERT INTO users ${sql.insert(row)} ON CONFLICT DO NOTHING RETURNING id`,
      Effect.map((rows) => rows.length === 1),
      Effect.orDie
    )
    const byEmail = Effect.fn("UserRepo.byEmail")(
      SqlSchema.findOne({
        Request: Schema.String,
        Result: UserWithHash,
        execute: (email) => sql`SELECT * FROM users WHERE lower(email) = lower(${email})`
      }),
      Effect.orDie
    )
    const byId = Effect.fn("UserRepo.byId")(
      SqlSchema.findOne({
        Request: UserId,
        Result: User,
        execute: (id) => sql`SELECT * FROM users WHERE id = ${id}`
      }),
      Effect.orDie
    )
    const exists = sql`SELECT 1 FROM users LIMIT 1`.pipe(
      Effect.map((rows) => rows.length > 0),
      Effect.orDie
    )
    const operatorExists = sql`SELECT 1 FROM users WHERE is_operator LIMIT 1`.pipe(
      Effect.map((rows) => rows.length > 0),
      Effect.orDie
    )
    return { insert, byEmail, byId, exists, operatorExists } as const
  })
}) {}
