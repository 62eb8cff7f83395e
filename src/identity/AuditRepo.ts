import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
import { AuditEntry, ToldEntry } from "./domain/AuditEntry.ts"
import { TenantId } from "./domain/User.ts"

const NewRow = Schema.Struct({
  ...AuditEntry.fields,
  path: Schema.parseJson(AuditEntry.fields.path),
  changes: Schema.OptionFromNullOr(Schema.parseJson(Schema.Unknown))
})

export class AuditRepo extends Effect.Service<AuditRepo>()("gatehouse/identity/AuditRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const insert = Effect.fn("AuditRepo.insert")(
      SqlSchema.void({
        Request: NewRow,
        execute: (row) => sql`INSERT INTO audit_log ${sql.insert(row)}`
      }),
      Effect.orDie
    )
    const page = Effect.fn("AuditRepo.page")(
      SqlSchema.findAll({
        Request: Schema.Struct({
          tenantId: TenantId,
          userId: Schema.NullOr(Schema.UUID),
          recordId: Schema.NullOr(Schema.String),
          operation: Schema.NullOr(Schema.String),
          before: Schema.NullOr(Schema.UUID),
          limit: Schema.Int
        }),
        Result: ToldEntry,
        execute: ({ before, limit, operation, recordId, tenantId, userId }) => sql`
          SELECT audit_log.*, users.name AS user_name FROM audit_log LEFT JOIN users ON users.id = user_id
          WHERE tenant_id = ${tenantId}
          AND (${userId}::uuid IS NULL OR user_id = ${userId}::uuid)
          AND (${recordId}::text IS NULL OR record_id = ${recordId}::text)
          AND (${operation}::text IS NULL OR operation = ${operation}::text)
          AND (${before}::uuid IS NULL OR audit_log.id < ${before}::uuid)
          ORDER BY audit_log.id DESC LIMIT ${limit}`
      }),
      Effect.orDie
    )
    return { insert, page } as const
  })
}) {}
