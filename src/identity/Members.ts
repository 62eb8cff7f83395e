import { SqlClient } from "@effect/sql"
import { Context, Data, DateTime, Effect, Layer, Option } from "effect"
import { nextId } from "../kit/Id.ts"
import type { Role } from "./domain/Ability.ts"
import { Member, MembershipId, type Refusal, refusalOf, type RoleChange } from "./domain/Membership.ts"
import type { TenantId, UserId } from "./domain/User.ts"
import { MemberRepo } from "./MemberRepo.ts"
import { RoleTooLow, TenantNotFound } from "./Tenants.ts"
import { UserRepo } from "./UserRepo.ts"

/** The user is no member of the tenant. */
export class MemberNotFound extends Data.TaggedError("MemberNotFound")<{}> {}
/** Nobody has registered with that e-mail. */
export class UserUnknown extends Data.TaggedError("UserUnknown")<{}> {}
export class AlreadyMember extends Data.TaggedError("AlreadyMember")<{}> {}
/** Only an owner makes, changes or removes owners. */
export class OwnersOnly extends Data.TaggedError("OwnersOnly")<{}> {}
/** A tenant keeps at least one owner. */
export class LastOwner extends Data.TaggedError("LastOwner")<{}> {}

const refused = (reason: Refusal) => {
  switch (reason) {
    case "role_too_low":
      return new RoleTooLow({ needed: "admin" })
    case "owners_only":
      return new OwnersOnly()
    case "last_owner":
      return new LastOwner()
  }
}

const permit = (change: RoleChange): Effect.Effect<void, RoleTooLow | OwnersOnly | LastOwner> =>
  Option.match(refusalOf(change), { onNone: () => Effect.void, onSome: (reason) => Effect.fail(refused(reason)) })

/**
 * Who belongs to a tenant, in which role (contract, part 3, "Accounts and tokens"). `actor` is who asks for a change: his
 * role is read again inside the transaction, and the members of one tenant change one at a time, so that no two changes
 * which are right by themselves leave a tenant without an owner.
 */
export class Members extends Context.Tag("gatehouse/identity/Members")<
  Members,
  {
    readonly page: (
      tenantId: TenantId,
      page: { readonly before: Option.Option<string>; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<Member>>
    readonly add: (
      actor: UserId,
      tenantId: TenantId,
      member: { readonly email: string; readonly role: Role }
    ) => Effect.Effect<Member, UserUnknown | AlreadyMember | RoleTooLow | OwnersOnly | TenantNotFound>
    readonly change: (
      actor: UserId,
      tenantId: TenantId,
      userId: UserId,
      role: Option.Option<Role>
    ) => Effect.Effect<Member, MemberNotFound | RoleTooLow | OwnersOnly | LastOwner | TenantNotFound>
    /** Takes a member out; everyone may take out himself. */
    readonly remove: (
      actor: UserId,
      tenantId: TenantId,
      userId: UserId
    ) => Effect.Effect<void, MemberNotFound | RoleTooLow | OwnersOnly | LastOwner | TenantNotFound>
  }
>() {
  static readonly layer = Layer.effect(
    Members,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const members = yield* MemberRepo
      const users = yield* UserRepo

      /** Locks the members of the tenant and answers who the two are in it. */
      const standing = Effect.fn("Members.standing")(function* (actor: UserId, tenantId: TenantId, userId: UserId) {
        const exists = yield* members.lock(tenantId)
        if (!exists) return yield* new TenantNotFound()
        const now = yield* members.standing({ tenantId, actor, subject: userId })
        if (Option.isNone(now.actor)) return yield* new TenantNotFound()
        return { actor: now.actor.value, isOwn: actor === userId, from: now.subject, owners: now.owners }
      })

      const add = Effect.fn("Members.add")(
        function* (
          actor: UserId,
          tenantId: TenantId,
          { email, role }: { readonly email: string; readonly role: Role }
        ) {
          const user = yield* Effect.mapError(yield* users.byEmail(email), () => new UserUnknown())
          const now = yield* standing(actor, tenantId, user.id)
          yield* Effect.catchTag(
            permit({ ...now, from: Option.none(), to: Option.some(role) }),
            "LastOwner",
            Effect.die
          )
          if (Option.isSome(now.from)) return yield* new AlreadyMember()
          const id = MembershipId.make(yield* nextId)
          const createdAt = yield* DateTime.now
          yield* members.insert({ id, tenantId, userId: user.id, role, createdAt: DateTime.toDateUtc(createdAt) })
          return Member.make({ id, userId: user.id, name: user.name, email: user.email, role, createdAt })
        },
        sql.withTransaction,
        Effect.catchTag("SqlError", Effect.die)
      )

      const find = (tenantId: TenantId, userId: UserId) =>
        Effect.flatMap(
          members.find({ tenantId, userId }),
          Effect.mapError(() => new MemberNotFound())
        )

      const change = Effect.fn("Members.change")(
        function* (actor: UserId, tenantId: TenantId, userId: UserId, role: Option.Option<Role>) {
          if (Option.isNone(role)) return yield* find(tenantId, userId)
          const now = yield* standing(actor, tenantId, userId)
          yield* permit({ ...now, to: role })
          if (Option.isNone(now.from)) return yield* new MemberNotFound()
          yield* members.setRole({ tenantId, userId }, role.value)
          return yield* find(tenantId, userId)
        },
        sql.withTransaction,
        Effect.catchTag("SqlError", Effect.die)
      )

      const remove = Effect.fn("Members.remove")(
        function* (actor: UserId, tenantId: TenantId, userId: UserId) {
          const now = yield* standing(actor, tenantId, userId)
          yield* permit({ ...now, to: Option.none() })
          if (Option.isNone(now.from)) return yield* new MemberNotFound()
          yield* members.remove({ tenantId, userId })
        },
        sql.withTransaction,
        Effect.catchTag("SqlError", Effect.die)
      )

      return Members.of({
        page: (tenantId, { before, limit }) => members.page({ tenantId, before: Option.getOrNull(before), limit }),
        add,
        change,
        remove
      })
    })
  ).pipe(Layer.provide([MemberRepo.Default, UserRepo.Default]))
}
