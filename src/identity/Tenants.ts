import { SqlClient } from "@effect/sql"
import { Array, Context, Data, DateTime, Effect, Layer, Option } from "effect"
import { nextId } from "../kit/Id.ts"
import { leaveTrail } from "./AuditLog.ts"
import { reaches } from "./domain/Ability.ts"
import { type Membership, MembershipId } from "./domain/Membership.ts"
import { candidate, slugOf } from "./domain/Slug.ts"
import { type Caller, type Plan, Tenant, TenantId, tenantRef, type UserId } from "./domain/User.ts"
import { MemberRepo } from "./MemberRepo.ts"
import { TenantRepo } from "./TenantRepo.ts"

/** No such tenant, or none that the caller is a member of: the two look alike. */
export class TenantNotFound extends Data.TaggedError("TenantNotFound")<{}> {}
/** The caller is a member, but his role is below what the endpoint asks for. */
export class RoleTooLow extends Data.TaggedError("RoleTooLow")<{ readonly needed: string }> {}
/** The tenant still has apps, archived ones included. */
export class TenantHasApps extends Data.TaggedError("TenantHasApps")<{}> {}

export interface TenantFields {
  readonly name: string
  readonly billingEmail: Option.Option<string>
  readonly plan: Plan
}

/** Workspaces and what a caller may do in them: effective right = role ∩ ability (contract, part 3). */
export class Tenants extends Context.Tag("gatehouse/identity/Tenants")<
  Tenants,
  {
    /** A new workspace whose owner is the user; joins the caller's transaction. */
    readonly create: (owner: UserId, fields: Omit<TenantFields, "plan">) => Effect.Effect<Tenant>
    /** Every workspace of the user, the default one first. */
    readonly ofUser: (userId: UserId) => Effect.Effect<ReadonlyArray<Membership>>
    /** The same by pages; `after` is the id of the last membership of the page before. */
    readonly page: (
      userId: UserId,
      page: { readonly after: Option.Option<string>; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<Membership>>
    /** The workspace that a text names by uuid or slug; without one the caller's default. */
    readonly select: (caller: Caller, name: Option.Option<string>) => Effect.Effect<Tenant, TenantNotFound | RoleTooLow>
    /** Passes when the caller's role in the workspace reaches what the called endpoint asks for. */
    readonly authorize: (caller: Caller, tenantId: TenantId) => Effect.Effect<void, TenantNotFound | RoleTooLow>
    /** Changes what is named and keeps the rest, the slug always. */
    readonly update: (id: TenantId, changes: Partial<TenantFields>) => Effect.Effect<Tenant, TenantNotFound>
    readonly remove: (id: TenantId) => Effect.Effect<void, TenantHasApps>
  }
>() {
  static readonly layer = Layer.effect(
    Tenants,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const tenants = yield* TenantRepo
      const members = yield* MemberRepo

      /** The tenant under its own slug, or the next one that is free. */
      const insertWithFreeSlug = Effect.fn("Tenants.insertWithFreeSlug")(function* (tenant: Tenant) {
        const words = Array.makeBy(20, (index) => candidate(tenant.slug, index + 1))
        const tries = [...words, `${tenant.slug}-${tenant.id}`].map((slug) => Tenant.make({ ...tenant, slug }))
        return yield* Effect.orDie(yield* Effect.findFirst(tries, tenants.insert))
      })

      const create = Effect.fn("Tenants.create")(
        function* (owner: UserId, { billingEmail, name }: Omit<TenantFields, "plan">) {
          const now = yield* DateTime.now
          const tenant = yield* insertWithFreeSlug(
            Tenant.make({
              id: TenantId.make(yield* nextId),
              name,
              slug: slugOf(name, "workspace"),
              billingEmail: Option.getOrNull(billingEmail),
              plan: "free",
              createdAt: now,
              updatedAt: now
            })
          )
          const id = MembershipId.make(yield* nextId)
          const createdAt = DateTime.toDateUtc(now)
          yield* members.insert({ id, tenantId: tenant.id, userId: owner, role: "owner", createdAt })
          yield* leaveTrail({ tenantId: Option.some(tenant.id) })
          return tenant
        },
        sql.withTransaction,
        Effect.catchTag("SqlError", Effect.die)
      )

      const permit = (caller: Caller, tenantId: TenantId, role: Membership["role"]) =>
        reaches(role, caller.role)
          ? leaveTrail({ tenantId: Option.some(tenantId) })
          : Effect.fail(new RoleTooLow({ needed: caller.role }))

      const select = Effect.fn("Tenants.select")(function* (caller: Caller, name: Option.Option<string>) {
        const found = yield* Option.match(name, {
          onNone: () => tenants.first(caller.userId),
          onSome: (text) =>
            Option.match(tenantRef(text), {
              onNone: () => Effect.succeedNone,
              onSome: (ref) => tenants.find(caller.userId, ref)
            })
        })
        if (Option.isNone(found)) return yield* new TenantNotFound()
        yield* permit(caller, found.value.tenant.id, found.value.role)
        return found.value.tenant
      })

      const authorize = Effect.fn("Tenants.authorize")(function* (caller: Caller, tenantId: TenantId) {
        const membership = yield* tenants.roleIn({ userId: caller.userId, tenantId })
        if (Option.isNone(membership)) return yield* new TenantNotFound()
        yield* permit(caller, tenantId, membership.value.role)
      })

      const update = Effect.fn("Tenants.update")(function* (id: TenantId, changes: Partial<TenantFields>) {
        const { billingEmail, ...others } = changes
        const columns =
          billingEmail === undefined ? others : { ...others, billingEmail: Option.getOrNull(billingEmail) }
        const updated = yield* tenants.update(id, columns, DateTime.toDateUtc(yield* DateTime.now))
        return yield* Effect.mapError(updated, () => new TenantNotFound())
      })

      const remove = Effect.fn("Tenants.remove")(function* (id: TenantId) {
        const isGone = yield* tenants.remove(id)
        if (!isGone) return yield* new TenantHasApps()
      })

      return Tenants.of({
        create,
        ofUser: tenants.ofUser,
        page: (userId, { after, limit }) => tenants.page({ userId, after: Option.getOrNull(after), limit }),
        select,
        authorize,
        update,
        remove
      })
    })
  ).pipe(Layer.provide([TenantRepo.Default, MemberRepo.Default]))
}
