import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
import { Role } from "./domain/Ability.ts"
import { Tenant, TenantId, UserId } from "./domain/User.ts"

const TenantOfUser = Schema.Struct({ ...Tenant.fields, role: Role })

export class TenantRepo extends Effect.Service<TenantRepo>()("gatehouse/identity/TenantRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const insert = Effect.fn("TenantRepo.insert")(
      (row: { id: TenantId; name: string; slug: string; createdAt: Date; updatedAt: Date }) =>
        sql`INSERT INTO tenants ${sql.insert(row)} ON CONFLICT (slug) DO NOTHING RETURNING id`,
      Effect.map((rows) => rows.length === 1),
      Effect.orDie
    )
    const addMember = Effect.fn("TenantRepo.addMember")(
      (row: { tenantId: TenantId; userId: UserId; role: Role; createdAt: Date }) =>
        sql`INSERT INTO memberships ${sql.insert(row)}`,
      Effect.asVoid,
      Effect.orDie
    )
    const ofUser = Effect.fn("TenantRepo.ofUser")(
      SqlSchema.findAll({
        Request: UserId,
        Result: TenantOfUser,
        execute: (userId) => sql`
          SELECT tenants.*, memberships.role FROM memberships JOIN tenants ON tenants.id = memberships.tenant_id
          WHERE memberships.user_id = ${userId} ORDER BY memberships.created_at, tenants.id`
      }),
      Effect.orDie
    )
    const roleIn = Effect.fn("TenantRepo.roleIn")(
      SqlSchema.findOne({
        Request: Schema.Struct({ userId: UserId, tenantId: TenantId }),
        Result: Schema.Struct({ role: Role }),
        execute: ({ tenantId, userId }) =>
          sql`SELECT role FROM memberships WHERE tenant_id = ${tenantId} AND user_id = ${userId}`
      }),
      Effect.orDie
    )
    return { insert, addMember, ofUser, roleIn } as const
  })
}) {}
