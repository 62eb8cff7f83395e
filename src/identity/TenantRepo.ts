import { SqlClient, SqlSchema } from "@effect/sql"
import { Array, Effect, Option, Schema } from "effect"
import { sqlReference } from "../sql/SqlViolation.ts"
import { Role } from "./domain/Ability.ts"
import { Membership, MembershipId } from "./domain/Membership.ts"
import { type Plan, Tenant, TenantId, type TenantRef, UserId } from "./domain/User.ts"

const MembershipRow = Schema.Struct({ ...Tenant.fields, membershipId: MembershipId, role: Role })

const membershipOf = (row: typeof MembershipRow.Type) =>
  Membership.make({ id: row.membershipId, tenant: Tenant.make(row), role: row.role })

export interface TenantColumns {
  readonly name?: string
  readonly billingEmail?: string | null
  readonly plan?: Plan
}

export class TenantRepo extends Effect.Service<TenantRepo>()("gatehouse/identity/TenantRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /** False when the slug is taken. */
    const insert = Effect.fn("TenantRepo.insert")(function* (tenant: Tenant) {
      const row = yield* Schema.encode(Tenant)(tenant)
      const rows = yield* sql`INSERT INTO tenants ${sql.insert(row)} ON CONFLICT (slug) DO NOTHING RETURNING id`
      return rows.length === 1
    }, Effect.orDie)

    const memberships = (userId: string) => sql`
      SELECT tenants.*, memberships.id AS membership_id, memberships.role
      FROM memberships JOIN tenants ON tenants.id = memberships.tenant_id WHERE memberships.user_id = ${userId}`

    const ofUser = Effect.fn("TenantRepo.ofUser")(
      SqlSchema.findAll({
        Request: UserId,
        Result: MembershipRow,
        execute: (userId) => sql`${memberships(userId)} ORDER BY memberships.id`
      }),
      Effect.map(Array.map(membershipOf)),
      Effect.orDie
    )
    const page = Effect.fn("TenantRepo.page")(
      SqlSchema.findAll({
        Request: Schema.Struct({ userId: UserId, after: Schema.NullOr(Schema.UUID), limit: Schema.Int }),
        Result: MembershipRow,
        execute: ({ after, limit, userId }) => sql`
          ${memberships(userId)} AND (${after}::uuid IS NULL OR memberships.id > ${after}::uuid)
          ORDER BY memberships.id LIMIT ${limit}`
      }),
      Effect.map(Array.map(membershipOf)),
      Effect.orDie
    )
    const first = Effect.fn("TenantRepo.first")(
      SqlSchema.findOne({
        Request: UserId,
        Result: MembershipRow,
        execute: (userId) => sql`${memberships(userId)} ORDER BY memberships.id LIMIT 1`
      }),
      Effect.map(Option.map(membershipOf)),
      Effect.orDie
    )
    const find = Effect.fn("TenantRepo.find")(
      (userId: UserId, ref: TenantRef) =>
        SqlSchema.findOne({
          Request: UserId,
          Result: MembershipRow,
          execute: (userId) =>
            sql`${memberships(userId)} AND ${"id" in ref ? sql`tenants.id = ${ref.id}` : sql`tenants.slug = ${ref.slug}`}`
        })(userId),
      Effect.map(Option.map(membershipOf)),
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
    /** Writes the named columns only, so that two callers who change different ones both succeed. */
    const update = Effect.fn("TenantRepo.update")(
      (id: TenantId, columns: TenantColumns, updatedAt: Date) =>
        SqlSchema.findOne({
          Request: TenantId,
          Result: Tenant,
          execute: (id) => sql`UPDATE tenants SET ${sql.update({ ...columns, updatedAt })} WHERE id = ${id} RETURNING *`
        })(id),
      Effect.orDie
    )
    /** False while apps hold it. A transaction around it survives the refusal. */
    const remove = Effect.fn("TenantRepo.remove")(
      (id: TenantId) =>
        sql.withTransaction(sql`DELETE FROM tenants WHERE id = ${id}`).pipe(
          Effect.as(true),
          Effect.catchIf(
            (error) => Option.contains(sqlReference(error), "apps_tenant_id_fkey"),
            () => Effect.succeed(false)
          )
        ),
      Effect.orDie
    )
    return { insert, ofUser, page, first, find, roleIn, update, remove } as const
  })
}) {}
