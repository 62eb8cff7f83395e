import { Schema } from "effect"

const areas = ["tenants", "apps", "credentials", "catalog", "customers", "webhooks"] as const

/** What a personal access token may do: `*`, or an area's `read` or `write`; write includes read (contract, part 3). */
export const Ability = Schema.Literal(
  "*",
  ...areas.map((area) => `${area}:read` as const),
  ...areas.map((area) => `${area}:write` as const)
).annotations({
  message: () => ({
    message: `must be *, or read or write of one of these: ${areas.join(", ")} (for example apps:read)`,
    override: true
  })
})
export type Ability = typeof Ability.Type

export const Role = Schema.Literal("owner", "admin", "member", "viewer").annotations({
  message: () => ({ message: "must be owner, admin, member or viewer", override: true })
})
export type Role = typeof Role.Type

const rank: { readonly [R in Role]: number } = { owner: 3, admin: 2, member: 1, viewer: 0 }

/** Whether a role reaches the least one that is asked for. */
export const reaches = (role: Role, least: Role): boolean => rank[role] >= rank[least]

/** Whether a set of abilities allows what `needed` names. */
export const allows = (abilities: ReadonlyArray<Ability>, needed: Ability): boolean =>
  abilities.includes("*") ||
  abilities.includes(needed) ||
  (needed.endsWith(":read") && abilities.some((ability) => ability === needed.replace(/:read$/, ":write")))

/** A token cannot hand out what it does not have. */
export const mayMint = (own: ReadonlyArray<Ability>, wanted: ReadonlyArray<Ability>): boolean =>
  wanted.every((ability) => (ability === "*" ? own.includes("*") : allows(own, ability)))
