import { Context, Data, Effect, Layer, Option } from "effect"
import { leaveTrail } from "./AuditLog.ts"
import { reaches } from "./domain/Ability.ts"
import { type Caller, Membership, Tenant, type TenantId, type UserId } from "./domain/User.ts"
import { TenantRepo } from "./TenantRepo.ts"

/** No such workspace, or none that the caller is a member of: the two look alike. */
export class TenantNotFound extends Data.TaggedError("TenantNotFound")<{}> {}
/** The caller is a member, but his role is below what the endpoint asks for. */
export class RoleTooLow extends Data.TaggedError("RoleTooLow")<{ readonly needed: string }> {}

/** Workspaces and what a caller may do in them: effective right = role ∩ ability (contract, part 3). */
export class Tenants extends Context.Tag("gatehouse/identity/Tenants")<
  Tenants,
  {
    readonly ofUser: (userId: UserId) => Effect.Effect<ReadonlyArray<Membership>>
    /** The workspace that `X-Tenant` names by uuid or slug; without it the first one. */
    readonly select: (
      caller: Caller,
      header: Option.Option<string>
    ) => Effect.Effect<Tenant, TenantNotFound | RoleTooLow>
    /** Passes when the caller's role in the workspace reaches what the called endpoint asks for. */
    readonly authorize: (caller: Caller, tenantId: TenantId) => Effect.Effect<void, TenantNotFound | RoleTooLow>
  }
>() {
  static readonly layer = Layer.effect(
    Tenants,
    Effect.gen(function* () {
      const tenants = yield* TenantRepo

      const ofUser = Effect.fn("Tenants.ofUser")(function* (userId: UserId) {
        const rows = yield* tenants.ofUser(userId)
        return rows.map((row) => Membership.make({ tenant: Tenant.make(row), role: row.role }))
      })

      const select = Effect.fn("Tenants.select")(function* (caller: Caller, header: Option.Option<string>) {
        const memberships = yield* ofUser(caller.userId)
        const chosen = Option.match(header, {
          onNone: () => memberships[0],
          onSome: (name) => memberships.find(({ tenant }) => tenant.slug === name || tenant.id === name.toLowerCase())
        })
        if (chosen === undefined) return yield* new TenantNotFound()
        if (!reaches(chosen.role, caller.role)) return yield* new RoleTooLow({ needed: caller.role })
        yield* leaveTrail({ tenantId: Option.some(chosen.tenant.id) })
        return chosen.tenant
      })

      const authorize = Effect.fn("Tenants.authorize")(function* (caller: Caller, tenantId: TenantId) {
        const membership = yield* tenants.roleIn({ userId: caller.userId, tenantId })
        if (Option.isNone(membership)) return yield* new TenantNotFound()
        if (!reaches(membership.value.role, caller.role)) return yield* new RoleTooLow({ needed: caller.role })
        yield* leaveTrail({ tenantId: Option.some(tenantId) })
      })

      return Tenants.of({ ofUser, select, authorize })
    })
  ).pipe(Layer.provide(TenantRepo.Default))
}
