import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Array, Context, Effect, Layer, Schedule } from "effect"
import { type Answer, call } from "../support/Api.ts"
import * as Gatehouse from "../support/Gatehouse.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

class Program extends Context.Tag("test/Program")<Program, Gatehouse.Gatehouse>() {}

const program = Layer.scoped(
  Program,
  Effect.flatMap(TestDatabase.url, (url) => Gatehouse.serve({ DATABASE_URL: url }))
).pipe(Layer.orDie)

const api = (method: string, path: string, token?: string, body?: unknown, headers: Record<string, string> = {}) =>
  Effect.flatMap(Program, ({ url }) =>
    call(method, `${url}/api/v1${path}`, { token, headers, ...(body === undefined ? {} : { body }) })
  )

let people = 0

/** A registered user: e-mail, token, uuid and first workspace. */
const person = (name: string) =>
  Effect.gen(function* () {
    const email = `${name}${++people}@example.com`.toLowerCase()
    const { body } = yield* api("POST", "/auth/register", undefined, { name, email, password: "eight characters" })
    const { tenant, token, user } = body.data
    return { email, token: token as string, id: user.uuid as string, tenant: tenant.uuid as string }
  })

type Person = Effect.Effect.Success<ReturnType<typeof person>>

const join = (owner: Person, member: Person, role: string) =>
  api("POST", `/tenants/${owner.tenant}/members`, owner.token, { email: member.email, role })

const mint = (token: string, abilities: ReadonlyArray<string>) =>
  Effect.map(
    api("POST", "/auth/tokens", token, { name: "narrow", abilities }),
    ({ body }): { readonly token: string; readonly uuid: string } => body.data
  )

const rolesIn = (tenant: string, token: string) =>
  Effect.map(api("GET", `/tenants/${tenant}/members?limit=100`, token), ({ body }): Record<string, string> =>
    Object.fromEntries(body.data.map(({ role, uuid }: { role: string; uuid: string }) => [uuid, role]))
  )

const expects = (answer: Answer, status: number, ...fields: ReadonlyArray<string>) => {
  assert.strictEqual(answer.status, status, JSON.stringify(answer.body))
  if (status >= 400) assert.sameMembers(Object.keys(answer.body.errors), [...fields])
}

/** Walks a list by pages of two, while something is added between any two pages. */
const walk = (path: string, token: string, between: Effect.Effect<unknown, never, Program>) =>
  Effect.gen(function* () {
    const seen: Array<string> = []
    let cursor: string | null = ""
    do {
      const page: Answer = yield* api("GET", `${path}?limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`, token)
      expects(page, 200)
      seen.push(...page.body.data.map(({ uuid }: { uuid: string }) => uuid))
      cursor = page.body.next_cursor
      if (cursor !== null && seen.length < 8) yield* between
    } while (cursor !== null)
    return seen
  })

const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

layer(program, { excludeTestServices: true })("a workspace is shared", (it) => {
  it.effect("who registers is an owner, is known by the token, and logs in and out", () =>
    Effect.gen(function* () {
      const body = { name: "Zoë", email: " Zoe@Example.com ", password: "eight characters", tenant_name: "Acme Inc." }
      const registered = yield* api("POST", "/auth/register", undefined, { ...body, unknown: 1 })
      expects(registered, 201)
      assert.strictEqual(registered.headers.get("cache-control"), "no-store")
      const { tenant, token, user } = registered.body.data
      assert.match(token, /^gh_pat_[0-9A-Za-z]{49}$/)
      deepStrictEqual(user, {
        uuid: user.uuid,
        name: "Zoë",
        email: "Zoe@Example.com",
        created_at: user.created_at
      })
      assert.match(user.created_at, timestamp)
      assert.deepInclude(tenant, { name: "Acme Inc.", slug: "acme-inc", billing_email: null, plan: "free" })
      const me = yield* api("GET", "/auth/me", token)
      deepStrictEqual(me.body.data, {
        ...user,
        roles: [{ tenant_uuid: tenant.uuid, role: "owner" }],
        tenants: [tenant],
        abilities: ["*"]
      })
      expects(yield* api("POST", "/auth/register", undefined, { ...body, email: "ZOE@example.com" }), 422, "email")
      const wrong = yield* api("POST", "/auth/register", undefined, { name: "", email: "zoe", password: "1234567" })
      expects(wrong, 422, "name", "email", "password")
      const login = yield* api("POST", "/auth/login", undefined, { email: "zoe@EXAMPLE.com", password: body.password })
      expects(login, 200)
      deepStrictEqual(login.body.data, { token: login.body.data.token, user, tenants: [tenant] })
      const refused = yield* api("POST", "/auth/login", undefined, { email: "zoe@example.com", password: "no" })
      const unknown = yield* api("POST", "/auth/login", undefined, { email: "nobody@example.com", password: "no" })
      expects(refused, 401)
      deepStrictEqual([unknown.status, unknown.body], [refused.status, refused.body])
      expects(yield* api("POST", "/auth/login", undefined, {}), 422, "email", "password")
      const out = yield* api("POST", "/auth/logout", login.body.data.token)
      deepStrictEqual(out.body, { data: { revoked: true } })
      expects(yield* api("GET", "/auth/me", login.body.data.token), 401)
      expects(yield* api("GET", "/auth/me", token), 200)
    })
  )

  it.effect("a token hands out what it has, is listed without its text, expires and is revoked", () =>
    Effect.gen(function* () {
      const ann = yield* person("Ann")
      const ben = yield* person("Ben")
      const expires_at = new Date(Date.now() + 3_600_000).toISOString()
      const made = yield* api("POST", "/auth/tokens", ann.token, {
        name: "agent",
        abilities: ["apps:write"],
        expires_at
      })
      expects(made, 201)
      const { token, ...record } = made.body.data
      deepStrictEqual(record, {
        uuid: record.uuid,
        name: "agent",
        abilities: ["apps:write"],
        created_at: record.created_at,
        expires_at
      })
      deepStrictEqual((yield* api("GET", "/auth/me", token)).body.data.abilities, ["apps:write"])
      expects(yield* api("POST", "/auth/tokens", token, { name: "same", abilities: ["apps:read"] }), 201)
      for (const abilities of [["*"], ["apps:read", "catalog:read"], undefined]) {
        expects(yield* api("POST", "/auth/tokens", token, { name: "more", abilities }), 403)
      }
      const bad = { name: 7, abilities: ["apps:read", "apps"], expires_at: "2020-01-01T00:00:00Z" }
      expects(yield* api("POST", "/auth/tokens", ann.token, bad), 422, "name", "abilities.1", "expires_at")
      expects(yield* api("POST", "/auth/tokens", ann.token, { name: "x", abilities: [] }), 422, "abilities.0")

      const list = yield* api("GET", "/auth/tokens?limit=100", token)
      deepStrictEqual(
        list.body.data.map(({ is_current, name }: { is_current: boolean; name: string }) => [name, is_current]),
        [
          ["same", false],
          ["agent", true],
          ["registration", false]
        ]
      )
      assert.match(list.body.data[1].last_used_at, timestamp)
      assert.isNull(list.body.data[0].last_used_at)
      assert.notInclude(JSON.stringify(list.body), "gh_pat_")

      const own = yield* api("DELETE", `/auth/tokens/${record.uuid}`, ben.token)
      expects(own, 404)
      for (const unknown of ["nonsense", "%00", "0190a6e4-8e3c-7c64-9d5b-6a1f0a7f3c11"]) {
        expects(yield* api("DELETE", `/auth/tokens/${unknown}`, ann.token), 404)
      }
      expects(yield* api("DELETE", `/auth/tokens/${list.body.data[2].uuid}`, token), 403)
      const gone = yield* api("DELETE", `/auth/tokens/${record.uuid}`, token)
      deepStrictEqual(gone.body, { data: { uuid: record.uuid, deleted: true } })
      expects(yield* api("GET", "/auth/me", token), 401)

      const soon = new Date(Date.now() + 4_000).toISOString()
      const brief = yield* api("POST", "/auth/tokens", ann.token, { name: "brief", expires_at: soon })
      expects(yield* api("GET", "/auth/me", brief.body.data.token), 200)
      const heir = yield* api("POST", "/auth/tokens", brief.body.data.token, { name: "heir" })
      assert.strictEqual(heir.body.data.expires_at, soon)
      yield* api("GET", "/auth/me", heir.body.data.token).pipe(
        Effect.repeat({ until: ({ status }) => status === 401, schedule: Schedule.spaced("100 millis") }),
        Effect.timeout("20 seconds")
      )
    })
  )

  it.effect("a workspace is made, found, changed and deleted, by uuid or slug, by those it belongs to", () =>
    Effect.gen(function* () {
      const ann = yield* person("Ann")
      const ben = yield* person("Ben")
      const made = yield* api("POST", "/tenants", ann.token, { name: "Blue Whale", billing_email: "pay@example.com" })
      expects(made, 201)
      const { slug, uuid } = made.body.data
      deepStrictEqual(made.body.data, {
        uuid,
        name: "Blue Whale",
        slug: "blue-whale",
        billing_email: "pay@example.com",
        plan: "free",
        created_at: made.body.data.created_at,
        updated_at: made.body.data.created_at
      })
      expects(yield* api("POST", "/tenants", ann.token, { billing_email: "x" }), 422, "name", "billing_email")
      for (const name of [uuid, uuid.toUpperCase(), slug]) {
        deepStrictEqual((yield* api("GET", `/tenants/${name}`, ann.token)).body, made.body)
        for (const [method, body] of [["GET"], ["PATCH", { name: "Mine" }], ["DELETE"]] as const) {
          expects(yield* api(method, `/tenants/${name}`, ben.token, body), 404)
        }
        expects(yield* api("GET", "/apps", ben.token, undefined, { "x-tenant": name }), 404)
      }
      const renamed = yield* api("PATCH", `/tenants/${slug}`, ann.token, { name: "Red Whale", plan: "pro" })
      assert.deepInclude(renamed.body.data, { name: "Red Whale", slug, plan: "pro", billing_email: "pay@example.com" })
      const cleared = yield* api("PATCH", `/tenants/${slug}`, ann.token, { billing_email: null })
      assert.deepInclude(cleared.body.data, { name: "Red Whale", billing_email: null })
      const bad = { name: null, billing_email: "x", plan: "gold" }
      expects(yield* api("PATCH", `/tenants/${slug}`, ann.token, bad), 422, "name", "billing_email", "plan")

      const app = yield* api("POST", "/apps", ann.token, { name: "Notes" }, { "x-tenant": slug })
      assert.strictEqual(app.body.data.tenant_uuid, uuid)
      const other = yield* api("POST", "/apps", ann.token, { name: "Notes" })
      assert.strictEqual(other.body.data.tenant_uuid, ann.tenant)
      const named = yield* api("GET", "/apps", ann.token, undefined, { "x-tenant": uuid })
      deepStrictEqual(
        named.body.data.map((item: { uuid: string }) => item.uuid),
        [app.body.data.uuid]
      )
      expects(yield* api("DELETE", `/tenants/${slug}`, ann.token), 409)
      yield* api("PATCH", `/apps/${app.body.data.uuid}`, ann.token, { status: "archived" })
      expects(yield* api("DELETE", `/tenants/${slug}`, ann.token), 409)
      const empty = yield* api("POST", "/tenants", ann.token, { name: "Blue Whale", billing_email: null })
      assert.strictEqual(empty.body.data.slug, "blue-whale-2")
      const deleted = yield* api("DELETE", "/tenants/blue-whale-2", ann.token)
      deepStrictEqual(deleted.body, { data: { uuid: empty.body.data.uuid, deleted: true } })
      expects(yield* api("GET", "/tenants/blue-whale-2", ann.token), 404)
    })
  )

  it.effect("members come, change and go as their roles allow", () =>
    Effect.gen(function* () {
      const ann = yield* person("Ann")
      const [ben, eve, joe] = yield* Effect.all([person("Ben"), person("Eve"), person("Joe")])
      const members = `/tenants/${ann.tenant}/members`
      const joined = yield* api("POST", members, ann.token, { email: ben.email.toUpperCase(), role: "admin" })
      expects(joined, 201)
      const record = joined.body.data
      deepStrictEqual(record, {
        uuid: ben.id,
        name: "Ben",
        email: ben.email,
        role: "admin",
        created_at: record.created_at
      })
      expects(yield* join(ann, ben, "viewer"), 409)
      expects(yield* api("POST", members, ben.token, { email: eve.email, role: "member" }), 201)
      expects(yield* api("POST", members, ben.token, { email: joe.email, role: "owner" }), 403)
      expects(yield* api("POST", members, ann.token, { email: "x@example.com", role: "viewer" }), 422, "email")
      expects(yield* api("POST", members, ann.token, { email: "x", role: "boss" }), 422, "email", "role")
      expects(yield* api("POST", members, ann.token, {}), 422, "email", "role")
      expects(yield* api("POST", members, eve.token, { email: joe.email, role: "viewer" }), 403)
      expects(yield* api("POST", members, joe.token, { email: joe.email, role: "viewer" }), 404)
      expects(yield* api("GET", members, joe.token), 404)
      const listed = yield* api("GET", members, eve.token)
      deepStrictEqual(listed.body.data[1], record)

      const patch = (who: Person, whom: string, body: object) => api("PATCH", `${members}/${whom}`, who.token, body)
      const remove = (who: Person, whom: string) => api("DELETE", `${members}/${whom}`, who.token)
      assert.deepInclude((yield* patch(ben, eve.id, { role: "viewer" })).body.data, { uuid: eve.id, role: "viewer" })
      assert.deepInclude((yield* patch(ben, eve.id, {})).body.data, { uuid: eve.id, role: "viewer" })
      expects(yield* patch(ben, eve.id, { role: "owner" }), 403)
      expects(yield* patch(ben, ann.id, { role: "member" }), 403)
      expects(yield* patch(eve, eve.id, { role: "admin" }), 403)
      expects(yield* patch(ann, ann.id, { role: "admin" }), 409)
      expects(yield* patch(ann, eve.id, { role: "boss" }), 422, "role")
      expects(yield* patch(ann, joe.id, { role: "viewer" }), 404)
      expects(yield* patch(ann, "nonsense", { role: "viewer" }), 404)
      expects(yield* remove(ann, ann.id), 409)
      expects(yield* remove(ben, ann.id), 403)
      expects(yield* remove(eve, ben.id), 403)
      expects(yield* remove(ann, joe.id), 404)
      deepStrictEqual(yield* rolesIn(ann.tenant, ann.token), {
        [ann.id]: "owner",
        [ben.id]: "admin",
        [eve.id]: "viewer"
      })

      deepStrictEqual((yield* remove(eve, eve.id)).body, { data: { uuid: eve.id, deleted: true } })
      expects(yield* api("GET", `/tenants/${ann.tenant}`, eve.token), 404)
      expects(yield* api("DELETE", `/tenants/${ann.tenant}`, ben.token), 403)
      expects(yield* patch(ann, ben.id, { role: "owner" }), 200)
      expects(yield* remove(ann, ann.id), 200)
      deepStrictEqual(yield* rolesIn(ann.tenant, ben.token), { [ben.id]: "owner" })
      const me = yield* api("GET", "/auth/me", ben.token)
      deepStrictEqual(me.body.data.roles, [
        { tenant_uuid: ben.tenant, role: "owner" },
        { tenant_uuid: ann.tenant, role: "owner" }
      ])
    })
  )

  it.effect("a caller may do what both role and ability allow", () =>
    Effect.gen(function* () {
      const owner = yield* person("Owner")
      const ranks = ["viewer", "member", "admin", "owner"] as const
      const calls = [
        ["GET", "", "tenants:read", "viewer"],
        ["GET", "/members", "tenants:read", "viewer"],
        ["PATCH", "", "tenants:write", "member"],
        ["POST", "/members", "tenants:write", "admin"],
        ["PATCH", `/members/${owner.id}`, "tenants:write", "admin"],
        ["DELETE", "", "tenants:write", "owner"]
      ] as const
      yield* api("POST", "/apps", owner.token, { name: "Keeps the workspace from being deleted" })
      for (const role of ranks) {
        const member = yield* person(role)
        expects(yield* join(owner, member, role), 201)
        const abilities = [["*"], ["tenants:read"], ["tenants:write"], ["apps:write", "customers:read"]]
        for (const own of abilities) {
          const { token } = yield* mint(member.token, own)
          for (const [method, path, needed, least] of calls) {
            const able = own.includes("*") || own.includes(needed) || own.includes(needed.replace("read", "write"))
            const body = method === "POST" ? { email: "nobody@example.com", role: "viewer" } : {}
            const answer = yield* api(
              method,
              `/tenants/${owner.tenant}${path}`,
              token,
              method === "GET" ? undefined : body
            )
            const allowed = able && ranks.indexOf(role) >= ranks.indexOf(least)
            assert.strictEqual(answer.status !== 403, allowed, `${role} ${own} ${method} ${path}: ${answer.status}`)
          }
        }
      }
    })
  )

  it.effect("of two last owners who leave or step down at once one stays", () =>
    Effect.gen(function* () {
      for (const method of ["DELETE", "PATCH", "DELETE", "PATCH"]) {
        const ann = yield* person("Ann")
        const ben = yield* person("Ben")
        yield* join(ann, ben, "owner")
        const body = method === "PATCH" ? { role: "viewer" } : undefined
        const answers = yield* Effect.all(
          [ann, ben].map(({ id, token }) => api(method, `/tenants/${ann.tenant}/members/${id}`, token, body)),
          { concurrency: 2 }
        )
        assert.sameMembers(
          answers.map(({ status }) => status),
          [200, 409]
        )
        const stays = answers[0]?.status === 409 ? ann : ben
        assert.strictEqual((yield* rolesIn(ann.tenant, stays.token))[stays.id], "owner")
      }
    })
  )

  it.effect("lists lose and repeat nothing while something is added", () =>
    Effect.gen(function* () {
      const ann = yield* person("Ann")
      const tokens = yield* Effect.forEach(Array.range(1, 5), () => mint(ann.token, ["apps:read"]))
      const seenTokens = yield* walk("/auth/tokens", ann.token, mint(ann.token, ["apps:read"]))
      deepStrictEqual(seenTokens.slice(0, 5), tokens.map(({ uuid }) => uuid).toReversed())
      assert.strictEqual(seenTokens.length, 6)

      const others = yield* Effect.forEach(Array.range(1, 5), () => person("Other"))
      yield* Effect.forEach(others, (other) => join(ann, other, "viewer"))
      const newcomer = Effect.flatMap(person("Late"), (late) => join(ann, late, "viewer"))
      const seenMembers = yield* walk(`/tenants/${ann.tenant}/members`, ann.token, newcomer)
      deepStrictEqual(seenMembers, [...others.map(({ id }) => id).toReversed(), ann.id])

      const create = Effect.map(api("POST", "/tenants", ann.token, { name: "Team" }), ({ body }) => body.data.uuid)
      const teams = yield* Effect.all(Array.replicate(create, 5))
      const seenTeams = yield* walk("/tenants", ann.token, create)
      deepStrictEqual(seenTeams.slice(0, 6), [ann.tenant, ...teams])
      assert.strictEqual(new Set(seenTeams).size, seenTeams.length)

      for (const path of ["/auth/tokens", "/tenants", `/tenants/${ann.tenant}/members`]) {
        expects(yield* api("GET", `${path}?cursor=nonsense`, ann.token), 400)
        expects(yield* api("GET", `${path}?limit=0`, ann.token), 422, "limit")
        expects(yield* api("GET", path), 401)
      }
    })
  )
})
