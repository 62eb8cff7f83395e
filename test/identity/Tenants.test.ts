import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Array, Effect, FastCheck, Option } from "effect"
import { reaches, Role } from "../../src/identity/domain/Ability.ts"
import { Members } from "../../src/identity/Members.ts"
import { Tenants } from "../../src/identity/Tenants.ts"
import { nextId } from "../../src/kit/Id.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import * as Life from "./Life.ts"

const addApp = (tenantId: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const id = yield* nextId
    yield* sql`
      INSERT INTO apps (id, tenant_id, name, slug, public_api_key, status, created_at, updated_at)
      VALUES (${id}, ${tenantId}, 'Notes', 'notes', ${id}, 'archived', now(), now())`
  })

layer(TestDatabase.layer)("Tenants", (it) => {
  it.effect("selects by uuid, by slug and by default, and nobody's for a stranger", () =>
    Effect.gen(function* () {
      const tenants = yield* Tenants
      const { tenant: first, user } = yield* Life.newUser("Ann")
      const second = yield* tenants.create(user.id, { name: "Second", billingEmail: Option.some("b@example.com") })
      const ann = yield* Life.caller(user.id)
      const ben = yield* Life.caller((yield* Life.newUser("Ben")).user.id)
      assert.strictEqual((yield* tenants.select(ann, Option.none())).id, first.id)
      for (const name of [second.id, second.id.toUpperCase(), second.slug]) {
        deepStrictEqual(yield* tenants.select(ann, Option.some(name)), second)
        assert.strictEqual((yield* Effect.flip(tenants.select(ben, Option.some(name))))._tag, "TenantNotFound")
      }
      for (const name of ["", "nope", "\u0000", yield* nextId]) {
        assert.strictEqual((yield* Effect.flip(tenants.select(ann, Option.some(name))))._tag, "TenantNotFound")
      }
      const nobody = yield* Life.caller((yield* Life.newUser("Joe")).user.id)
      const [only] = yield* tenants.ofUser(nobody.userId)
      yield* tenants.remove(only?.tenant.id ?? first.id)
      assert.strictEqual((yield* Effect.flip(tenants.select(nobody, Option.none())))._tag, "TenantNotFound")
    }).pipe(Effect.provide(Life.layer()))
  )

  it.effect("never lets a role do more than it reaches", () =>
    Effect.gen(function* () {
      const tenants = yield* Tenants
      const members = yield* Members
      const { tenant, user } = yield* Life.newUser("Ann")
      const users = yield* Effect.forEach(Role.literals, (role) =>
        Effect.gen(function* () {
          const { user: member } = yield* Life.newUser(role)
          yield* members.add(user.id, tenant.id, { email: member.email, role })
          return { role, id: member.id }
        })
      )
      const cases = FastCheck.sample(
        FastCheck.tuple(FastCheck.constantFrom(...users), FastCheck.constantFrom(...Role.literals)),
        60
      )
      for (const [{ id, role }, needed] of cases) {
        const caller = yield* Life.caller(id, needed)
        const authorized = yield* Effect.either(tenants.authorize(caller, tenant.id))
        const selected = yield* Effect.either(tenants.select(caller, Option.some(tenant.slug)))
        assert.strictEqual(authorized._tag, reaches(role, needed) ? "Right" : "Left", `${role} for ${needed}`)
        assert.strictEqual(selected._tag, authorized._tag)
      }
    }).pipe(Effect.provide(Life.layer()))
  )

  it.effect("changes what is named only, also when two callers name different things at once", () =>
    Effect.gen(function* () {
      const tenants = yield* Tenants
      const { tenant, user } = yield* Life.newUser("Ann")
      yield* Effect.all(
        [
          tenants.update(tenant.id, { name: "New name" }),
          tenants.update(tenant.id, { billingEmail: Option.some("b@example.com") }),
          tenants.update(tenant.id, { plan: "pro" })
        ],
        { concurrency: 3 }
      )
      const [membership] = yield* tenants.ofUser(user.id)
      const changed = { name: "New name", billingEmail: "b@example.com", plan: "pro" as const, slug: tenant.slug }
      assert.deepInclude(membership?.tenant, changed)
      const cleared = yield* tenants.update(tenant.id, { billingEmail: Option.none() })
      assert.deepInclude(cleared, { ...changed, billingEmail: null })
      yield* tenants.remove(tenant.id)
      assert.strictEqual((yield* Effect.flip(tenants.update(tenant.id, { plan: "free" })))._tag, "TenantNotFound")
    }).pipe(Effect.provide(Life.layer()))
  )

  it.effect("stays while it has apps, archived ones included, and inside another transaction too", () =>
    Effect.gen(function* () {
      const tenants = yield* Tenants
      const sql = yield* SqlClient.SqlClient
      const { tenant, user } = yield* Life.newUser("Ann")
      yield* addApp(tenant.id)
      const refusal = yield* sql.withTransaction(
        Effect.zipLeft(
          Effect.flip(tenants.remove(tenant.id)),
          sql`UPDATE tenants SET name = 'still here' WHERE id = ${tenant.id}`
        )
      )
      assert.strictEqual(refusal._tag, "TenantHasApps")
      const [kept] = yield* tenants.ofUser(user.id)
      assert.strictEqual(kept?.tenant.name, "still here")
      yield* sql`DELETE FROM apps WHERE tenant_id = ${tenant.id}`
      yield* tenants.remove(tenant.id)
      deepStrictEqual(yield* tenants.ofUser(user.id), [])
    }).pipe(Effect.provide(Life.layer()))
  )

  it.effect("is listed by pages in the order of joining, whoever joins meanwhile", () =>
    Effect.gen(function* () {
      const tenants = yield* Tenants
      const { tenant, user } = yield* Life.newUser("Ann")
      const create = (name: string) => tenants.create(user.id, { name, billingEmail: Option.none() })
      yield* Effect.forEach(Array.range(1, 4), (n) => create(`Team ${n}`))
      const seen: Array<string> = []
      let after = Option.none<string>()
      for (const joined of ["Late 1", "Late 2", "Late 3"]) {
        const page = yield* tenants.page(user.id, { after, limit: 2 })
        seen.push(...page.map((membership) => membership.tenant.name))
        after = Option.map(Array.last(page), ({ id }) => id)
        yield* create(joined)
      }
      deepStrictEqual(seen, [tenant.name, "Team 1", "Team 2", "Team 3", "Team 4", "Late 1"])
    }).pipe(Effect.provide(Life.layer()))
  )
})
