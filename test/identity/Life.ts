import { Effect, Layer, Option, Redacted } from "effect"
import { Accounts } from "../../src/identity/Accounts.ts"
import { AccessTokens } from "../../src/identity/AccessTokens.ts"
import type { Ability, Role } from "../../src/identity/domain/Ability.ts"
import { AccessTokenId, type UserId } from "../../src/identity/domain/User.ts"
import { Members } from "../../src/identity/Members.ts"
import { Passwords } from "../../src/identity/Passwords.ts"
import { Tenants } from "../../src/identity/Tenants.ts"
import { nextId } from "../../src/kit/Id.ts"

/** What the stand-in for argon2id was asked, in order: "hash", "verify" or "verify nobody". */
export class PasswordLedger {
  readonly asked: Array<string> = []
}

const passwords = (ledger: PasswordLedger) =>
  Layer.succeed(Passwords, {
    hash: (password) =>
      Effect.sync(() => {
        ledger.asked.push("hash")
        return `hash of ${Redacted.value(password)}`
      }),
    verify: (stored, password) =>
      Effect.sync(() => {
        ledger.asked.push(stored === undefined ? "verify nobody" : "verify")
        return stored === `hash of ${Redacted.value(password)}`
      })
  })

/** The identity context on the test's database; passwords are not hashed but counted. */
export const layer = (registration: "open" | "closed" = "open", ledger = new PasswordLedger()) =>
  Layer.mergeAll(
    Accounts.layer({ registration }).pipe(Layer.provide([passwords(ledger), Tenants.layer])),
    AccessTokens.layer,
    Members.layer,
    Tenants.layer
  )

/** A registered user with a name of his own, and his first workspace. */
export const newUser = Effect.fn(function* (name = "Ann", tenantName: Option.Option<string> = Option.none()) {
  const accounts = yield* Accounts
  const email = `${name}.${yield* nextId}@example.com`.toLowerCase().replace(/[^a-z0-9.@-]/g, "")
  const password = Redacted.make("12345678")
  return yield* accounts.create({ name, email, password, tenantName, isOperator: false })
})

/** A caller as the middleware makes one for an endpoint that asks for a role. */
export const caller = (userId: UserId, role: Role = "viewer", abilities: ReadonlyArray<Ability> = ["*"]) =>
  Effect.map(nextId, (id) => ({ userId, tokenId: AccessTokenId.make(id), abilities, role }))
