import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { FastCheck, Option } from "effect"
import { Role } from "../../../src/identity/domain/Ability.ts"
import { refusalOf } from "../../../src/identity/domain/Membership.ts"

const role = FastCheck.constantFrom(...Role.literals)
const maybeRole = FastCheck.option(role).map(Option.fromNullable)
const people = ["ann", "ben", "eve", "joe"] as const
const person = FastCheck.constantFrom(...people)

/** What a tenant's members look like after requests in a row; who is no member can ask for nothing. */
const play = (requests: ReadonlyArray<readonly [actor: string, subject: string, to: Option.Option<Role>]>) => {
  const roles = new Map<string, Role>([["ann", "owner"]])
  const history = requests.map(([actor, subject, to]) => {
    const before = new Map(roles)
    const actorRole = before.get(actor)
    const owners = [...before.values()].filter((role) => role === "owner").length
    const refusal =
      actorRole === undefined
        ? Option.some("no_member" as const)
        : refusalOf({
            actor: actorRole,
            isOwn: actor === subject,
            from: Option.fromNullable(before.get(subject)),
            to,
            owners
          })
    if (Option.isNone(refusal)) {
      if (Option.isSome(to)) roles.set(subject, to.value)
      else roles.delete(subject)
    }
    return { actor, actorRole, subject, before, after: new Map(roles) }
  })
  return history
}

const ownersOf = (roles: ReadonlyMap<string, Role>) => people.filter((person) => roles.get(person) === "owner")

describe("a change of members", () => {
  it.prop(
    "never leaves a tenant without an owner",
    [FastCheck.array(FastCheck.tuple(person, person, maybeRole))],
    (all) => {
      for (const { after } of play(all[0])) assert.isNotEmpty(ownersOf(after))
    }
  )

  it.prop(
    "touches owners by owners only, and others by admins only, but lets everyone leave",
    [FastCheck.array(FastCheck.tuple(person, person, maybeRole), { minLength: 5 })],
    ([requests]) => {
      for (const { actor, actorRole, after, before, subject } of play(requests)) {
        const left = actor === subject && !after.has(subject)
        if (`${ownersOf(before)}` !== `${ownersOf(after)}`) assert.strictEqual(actorRole, "owner")
        if (before.get(subject) !== after.get(subject) && !left) assert.include(["owner", "admin"], actorRole)
      }
    }
  )

  it.prop(
    "lets who is no owner leave, and an owner who is not the last",
    [role, FastCheck.nat(3)],
    ([role, others]) => {
      const owners = others + (role === "owner" ? 1 : 0)
      const leaving = { actor: role, isOwn: true, from: Option.some(role), to: Option.none(), owners }
      deepStrictEqual(Option.getOrNull(refusalOf(leaving)), role === "owner" && others === 0 ? "last_owner" : null)
    }
  )

  it.prop("is all an owner's right while another owner stays", [maybeRole, maybeRole], ([from, to]) => {
    assert.isTrue(Option.isNone(refusalOf({ actor: "owner", isOwn: false, from, to, owners: 2 })))
  })

  it.prop("is an admin's right as far as no owner is concerned", [maybeRole, maybeRole], ([from, to]) => {
    const concernsOwner = Option.contains(from, "owner") || Option.contains(to, "owner")
    const refusal = refusalOf({ actor: "admin", isOwn: false, from, to, owners: 2 })
    assert.strictEqual(Option.getOrNull(refusal), concernsOwner ? "owners_only" : null)
  })
})
