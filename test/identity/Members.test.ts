import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { assertNone, assertSome, deepStrictEqual } from "@effect/vitest/utils"
import { Array, Effect, Either, FastCheck, Option } from "effect"
import { Role } from "../../src/identity/domain/Ability.ts"
import type { TenantId, UserId } from "../../src/identity/domain/User.ts"
import { Members } from "../../src/identity/Members.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import * as Life from "./Life.ts"

const rolesIn = (tenantId: TenantId) =>
  Effect.gen(function* () {
    const members = yield* Members
    const page = yield* members.page(tenantId, { before: Option.none(), limit: 100 })
    return new Map(page.map(({ role, userId }) => [userId, role]))
  })

const team = (...roles: ReadonlyArray<Role>) =>
  Effect.gen(function* () {
    const members = yield* Members
    const { tenant, user } = yield* Life.newUser("Ann")
    const others = yield* Effect.forEach(roles, (role) =>
      Effect.gen(function* () {
        const { user: other } = yield* Life.newUser(role)
        return yield* members.add(user.id, tenant.id, { email: other.email.toUpperCase(), role })
      })
    )
    return { tenantId: tenant.id, owner: user.id, others: others.map(({ userId }) => userId) }
  })

const refusalTag = (attempt: Effect.Effect<void, { readonly _tag: string }>) =>
  Effect.map(Effect.flip(attempt), ({ _tag }) => _tag)

layer(TestDatabase.layer)("Members", (it) => {
  it.effect("keeps one owner of two who demote themselves, or each other, at once", () =>
    Effect.gen(function* () {
      const members = yield* Members
      for (const crossed of [false, true]) {
        for (const round of Array.range(1, 5)) {
          const { others, owner, tenantId } = yield* team("owner")
          const [second = owner] = others
          const demote = (actor: UserId, subject: UserId) =>
            round % 2 === 0
              ? Effect.asVoid(members.change(actor, tenantId, subject, Option.some("viewer")))
              : members.remove(actor, tenantId, subject)
          const answers = yield* Effect.all(
            [
              Effect.either(demote(owner, crossed ? second : owner)),
              Effect.either(demote(second, crossed ? owner : second))
            ],
            { concurrency: 2 }
          )
          assert.strictEqual(answers.filter(Either.isRight).length, 1)
          const owners = [...(yield* rolesIn(tenantId)).values()].filter((role) => role === "owner")
          assert.strictEqual(owners.length, 1)
        }
      }
    }).pipe(Effect.provide(Life.layer()))
  )

  it.effect("has an owner after whatever many members want of each other at once", () =>
    Effect.gen(function* () {
      const members = yield* Members
      const { others, owner, tenantId } = yield* team("owner", "owner", "admin", "member")
      const people = FastCheck.constantFrom(owner, ...others)
      const wish = FastCheck.tuple(people, people, FastCheck.option(FastCheck.constantFrom(...Role.literals)))
      const wishes = FastCheck.sample(wish, 60)
      yield* Effect.forEach(
        wishes,
        ([actor, subject, role]) =>
          Effect.either(
            role === null
              ? members.remove(actor, tenantId, subject)
              : Effect.asVoid(members.change(actor, tenantId, subject, Option.some(role)))
          ),
        { concurrency: 6 }
      )
      assert.include([...(yield* rolesIn(tenantId)).values()], "owner")
    }).pipe(Effect.provide(Life.layer()))
  )

  it.effect("adds one of several who add the same user at once", () =>
    Effect.gen(function* () {
      const members = yield* Members
      const { owner, tenantId } = yield* team()
      const { user } = yield* Life.newUser("Ben")
      const answers = yield* Effect.all(
        Array.replicate(Effect.either(members.add(owner, tenantId, { email: user.email, role: "member" })), 6),
        { concurrency: 6 }
      )
      assert.strictEqual(Array.getRights(answers).length, 1)
      deepStrictEqual(Array.dedupe(Array.getLefts(answers).map(({ _tag }) => _tag)), ["AlreadyMember"])
    }).pipe(Effect.provide(Life.layer()))
  )

  it.effect("refuses with a reason and changes nothing", () =>
    Effect.gen(function* () {
      const members = yield* Members
      const { others, owner, tenantId } = yield* team("admin", "member", "viewer")
      const [admin = owner, member = owner, viewer = owner] = others
      const { user: stranger } = yield* Life.newUser("Stranger")
      const before = yield* rolesIn(tenantId)
      const change = (actor: UserId, subject: UserId, role: Role) =>
        Effect.asVoid(members.change(actor, tenantId, subject, Option.some(role)))
      const add = (actor: UserId, email: string, role: Role) =>
        Effect.asVoid(members.add(actor, tenantId, { email, role }))
      const cases = [
        [change(admin, owner, "viewer"), "OwnersOnly"],
        [change(admin, member, "owner"), "OwnersOnly"],
        [change(admin, admin, "owner"), "OwnersOnly"],
        [members.remove(admin, tenantId, owner), "OwnersOnly"],
        [add(admin, stranger.email, "owner"), "OwnersOnly"],
        [change(owner, owner, "admin"), "LastOwner"],
        [members.remove(owner, tenantId, owner), "LastOwner"],
        [change(member, viewer, "admin"), "RoleTooLow"],
        [members.remove(member, tenantId, viewer), "RoleTooLow"],
        [members.remove(member, tenantId, stranger.id), "RoleTooLow"],
        [add(viewer, stranger.email, "viewer"), "RoleTooLow"],
        [change(owner, stranger.id, "viewer"), "MemberNotFound"],
        [members.remove(owner, tenantId, stranger.id), "MemberNotFound"],
        [Effect.asVoid(members.change(owner, tenantId, stranger.id, Option.none())), "MemberNotFound"],
        [add(owner, "nobody@example.com", "viewer"), "UserUnknown"],
        [add(stranger.id, stranger.email, "viewer"), "TenantNotFound"],
        [members.remove(stranger.id, tenantId, stranger.id), "TenantNotFound"]
      ] as const
      for (const [attempt, tag] of cases) assert.strictEqual(yield* refusalTag(attempt), tag)
      deepStrictEqual(yield* rolesIn(tenantId), before)
    }).pipe(Effect.provide(Life.layer()))
  )

  it.effect("lets an admin manage everyone but owners, and everyone leave", () =>
    Effect.gen(function* () {
      const members = yield* Members
      const { others, owner, tenantId } = yield* team("admin", "member", "viewer")
      const [admin = owner, member = owner, viewer = owner] = others
      assert.strictEqual((yield* members.change(admin, tenantId, member, Option.some("admin"))).role, "admin")
      assert.strictEqual((yield* members.change(admin, tenantId, member, Option.none())).role, "admin")
      yield* members.remove(viewer, tenantId, viewer)
      yield* members.remove(admin, tenantId, member)
      yield* members.change(owner, tenantId, admin, Option.some("owner"))
      yield* members.remove(owner, tenantId, owner)
      deepStrictEqual([...(yield* rolesIn(tenantId))], [[admin, "owner"]])
    }).pipe(Effect.provide(Life.layer()))
  )

  it.effect("gives memberships that were made before they had ids one each, in the order of their times", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { default: migration } = yield* Effect.promise(() => import("../../src/sql/migrations/0007_members.ts"))
      const { others, owner, tenantId } = yield* team("admin", "member", "viewer")
      const order = yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`ALTER TABLE memberships DROP COLUMN id`
          yield* sql`ALTER TABLE access_tokens DROP COLUMN last_used_at`
          yield* sql`CREATE INDEX memberships_user ON memberships (user_id, created_at)`
          yield* Effect.forEach(
            [owner, ...others],
            (userId, day) =>
              sql`
              UPDATE memberships SET created_at = ${new Date(Date.UTC(2020, 0, 20 - day))}
              WHERE tenant_id = ${tenantId} AND user_id = ${userId}`
          )
          yield* migration
          return yield* sql<{ readonly userId: UserId; readonly id: string }>`
            SELECT user_id, id FROM memberships WHERE tenant_id = ${tenantId} ORDER BY id`
        })
      )
      deepStrictEqual(
        order.map(({ userId }) => userId),
        [owner, ...others].toReversed()
      )
      const [first] = order
      assert.match(first?.id ?? "", /^016f[0-9a-f]{4}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]/)
      const millis = Number.parseInt((first?.id ?? "").replace("-", "").slice(0, 12), 16)
      assert.strictEqual(millis, Date.UTC(2020, 0, 17))
    }).pipe(Effect.provide(Life.layer()))
  )

  it.effect("is none whose tenant is gone", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { owner, tenantId } = yield* team("admin")
      yield* sql`DELETE FROM tenants WHERE id = ${tenantId}`
      const members = yield* Members
      const left = yield* Effect.flip(members.remove(owner, tenantId, owner))
      assert.strictEqual(left._tag, "TenantNotFound")
      const roles = yield* rolesIn(tenantId)
      assertNone(Option.fromNullable(roles.get(owner)))
      const { owner: other, tenantId: otherId } = yield* team()
      assertSome(Option.fromNullable((yield* rolesIn(otherId)).get(other)), "owner")
    }).pipe(Effect.provide(Life.layer()))
  )
})
