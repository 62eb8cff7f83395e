import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Array, Effect, Either, Option, Redacted } from "effect"
import { Accounts } from "../../src/identity/Accounts.ts"
import { Tenants } from "../../src/identity/Tenants.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import * as Life from "./Life.ts"

const password = Redacted.make("12345678")
const ann = { name: "Ann", email: "Ann@example.com", password, tenantName: Option.none(), isOperator: false }

layer(TestDatabase.layer)("Accounts", (it) => {
  it.effect("registers one of several who come at once with one e-mail, in any case", () =>
    Effect.gen(function* () {
      const accounts = yield* Accounts
      const sql = yield* SqlClient.SqlClient
      const emails = Array.makeBy(8, (n) => (n % 2 === 0 ? "ann@EXAMPLE.com" : "Ann@example.com"))
      const answers = yield* Effect.all(
        emails.map((email) => Effect.either(accounts.register({ ...ann, email }))),
        { concurrency: 8 }
      )
      const [created, ...others] = Array.getRights(answers)
      deepStrictEqual(others, [])
      deepStrictEqual(Array.dedupe(Array.getLefts(answers).map(({ _tag }) => _tag)), ["EmailTaken"])
      deepStrictEqual(
        yield* sql`SELECT role, tenants.name, tenants.slug FROM memberships JOIN tenants ON tenants.id = tenant_id`,
        [{ role: "owner", name: "Ann's workspace", slug: "ann-s-workspace" }]
      )
      const user = yield* accounts.login("ANN@example.COM", password)
      assert.strictEqual(user.id, created?.user.id)
      assert.strictEqual(user.email, created?.user.email)
    }).pipe(Effect.provide(Life.layer()))
  )

  it.effect("asks as much of the hashing for an unknown e-mail as for a wrong password", () => {
    const ledger = new Life.PasswordLedger()
    return Effect.gen(function* () {
      const accounts = yield* Accounts
      const { user } = yield* Life.newUser("Ben")
      ledger.asked.length = 0
      const wrong = yield* Effect.flip(accounts.login(user.email, Redacted.make("wrong")))
      const unknown = yield* Effect.flip(accounts.login("nobody@example.com", password))
      deepStrictEqual(ledger.asked, ["verify", "verify nobody"])
      deepStrictEqual([wrong._tag, unknown._tag], ["LoginRefused", "LoginRefused"])
    }).pipe(Effect.provide(Life.layer("open", ledger)))
  })

  it.effect("hashes nothing for an e-mail that is taken", () => {
    const ledger = new Life.PasswordLedger()
    return Effect.gen(function* () {
      const accounts = yield* Accounts
      const { user } = yield* Life.newUser("Cleo")
      ledger.asked.length = 0
      assert.strictEqual((yield* Effect.flip(accounts.register({ ...ann, email: user.email })))._tag, "EmailTaken")
      deepStrictEqual(ledger.asked, [])
    }).pipe(Effect.provide(Life.layer("open", ledger)))
  })

  it.effect("is closed to registrations once a user exists, and never to the operator of the program", () =>
    Effect.gen(function* () {
      const accounts = yield* Accounts
      const sql = yield* SqlClient.SqlClient
      yield* sql`DELETE FROM users`
      assert.isTrue(Either.isRight(yield* Effect.either(accounts.register({ ...ann, email: "first@example.com" }))))
      const second = yield* Effect.flip(accounts.register({ ...ann, email: "second@example.com" }))
      assert.strictEqual(second._tag, "RegistrationClosed")
      assert.strictEqual(
        (yield* accounts.create({ ...ann, email: "third@example.com" })).user.email,
        "third@example.com"
      )
    }).pipe(Effect.provide(Life.layer("closed")))
  )

  it.effect("names the workspace as it was asked to, under a slug of its own", () =>
    Effect.gen(function* () {
      const tenants = yield* Tenants
      const many = yield* Effect.all(
        Array.makeBy(25, () => Life.newUser("Dora", Option.some("Déjà Vu!"))),
        { concurrency: 5 }
      )
      const slugs = many.map(({ tenant }) => tenant.slug)
      assert.strictEqual(new Set(slugs).size, 25)
      assert.includeMembers(slugs, ["deja-vu", "deja-vu-2", "deja-vu-20"])
      assert.isTrue(many.every(({ tenant }) => tenant.name === "Déjà Vu!"))
      for (const { tenant, user } of many.slice(0, 3)) {
        const [first] = yield* tenants.ofUser(user.id)
        assert.deepInclude(first, { role: "owner", tenant })
      }
    }).pipe(Effect.provide(Life.layer()))
  )
})
