import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
import { Role } from "./domain/Ability.ts"
import { Member, type MembershipId } from "./domain/Membership.ts"
import { TenantId, UserId } from "./domain/User.ts"

const Pair = Schema.Struct({ tenantId: TenantId, userId: UserId })

const Standing = Schema.Struct({
  actor: Schema.OptionFromNullOr(Role),
  subject: Schema.OptionFromNullOr(Role),
  owners: Schema.Int
})

export class MemberRepo extends Effect.Service<MemberRepo>()("gatehouse/identity/MemberRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /** Members of one tenant change one at a time: held until the transaction ends. False when the tenant is gone. */
    const lock = Effect.fn("MemberRepo.lock")(
      (tenantId: TenantId) => sql`SELECT id FROM tenants WHERE id = ${tenantId} FOR NO KEY UPDATE`,
      Effect.map((rows) => rows.length === 1),
      Effect.orDie
    )
    const standing = Effect.fn("MemberRepo.standing")(
      SqlSchema.single({
        Request: Schema.Struct({ tenantId: TenantId, actor: UserId, subject: UserId }),
        Result: Standing,
        execute: ({ actor, subject, tenantId }) => sql`
          SELECT
            (SELECT role FROM memberships WHERE tenant_id = ${tenantId} AND user_id = ${actor}) AS actor,
            (SELECT role FROM memberships WHERE tenant_id = ${tenantId} AND user_id = ${subject}) AS subject,
            (SELECT count(*) FROM memberships WHERE tenant_id = ${tenantId} AND role = 'owner') AS owners`
      }),
      Effect.orDie
    )
    const insert = Effect.fn("MemberRepo.insert")(
      (row: { id: MembershipId; tenantId: TenantId; userId: UserId; role: Role; createdAt: Date }) =>
        sql`INSERT INTO memberships ${sql.insert(row)}`,
      Effect.asVoid,
      Effect.orDie
    )
    const setRole = Effect.fn("MemberRepo.setRole")(
      ({ tenantId, userId }: typeof Pair.Type, role: Role) =>
        sql`UPDATE memberships SET role = ${role} WHERE tenant_id = ${tenantId} AND user_id = ${userId}`,
      Effect.asVoid,
      Effect.orDie
    )
    const remove = Effect.fn("MemberRepo.remove")(
      ({ tenantId, userId }: typeof Pair.Type) =>
        sql`DELETE FROM memberships WHERE tenant_id = ${tenantId} AND user_id = ${userId}`,
      Effect.asVoid,
      Effect.orDie
    )
    const members = sql`
      SELECT memberships.id, memberships.user_id, users.name, users.email, memberships.role, memberships.created_at
      FROM memberships JOIN users ON users.id = memberships.user_id`
    const find = Effect.fn("MemberRepo.find")(
      SqlSchema.findOne({
        Request: Pair,
        Result: Member,
        execute: ({ tenantId, userId }) =>
          sql`${members} WHERE memberships.tenant_id = ${tenantId} AND memberships.user_id = ${userId}`
      }),
      Effect.orDie
    )
    const page = Effect.fn("MemberRepo.page")(
      SqlSchema.findAll({
        Request: Schema.Struct({ tenantId: TenantId, before: Schema.NullOr(Schema.UUID), limit: Schema.Int }),
        Result: Member,
        execute: ({ before, limit, tenantId }) => sql`
          ${members} WHERE memberships.tenant_id = ${tenantId}
          AND (${before}::uuid IS NULL OR memberships.id < ${before}::uuid) ORDER BY memberships.id DESC LIMIT ${limit}`
      }),
      Effect.orDie
    )
    return { lock, standing, insert, setRole, remove, find, page } as const
  })
}) {}
