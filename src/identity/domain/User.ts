import { Option, Schema } from "effect"
import { Ability, type Role } from "./Ability.ts"
import { isSlug } from "./Slug.ts"

export const UserId = Schema.UUID.pipe(Schema.brand("UserId"))
export type UserId = typeof UserId.Type

export const TenantId = Schema.UUID.pipe(Schema.brand("TenantId"))
export type TenantId = typeof TenantId.Type

export const AccessTokenId = Schema.UUID.pipe(Schema.brand("AccessTokenId"))
export type AccessTokenId = typeof AccessTokenId.Type

export class User extends Schema.Class<User>("User")({
  id: UserId,
  name: Schema.String,
  email: Schema.String,
  isOperator: Schema.Boolean,
  createdAt: Schema.DateTimeUtcFromDate
}) {}

export const Plan = Schema.Literal("free", "pro", "enterprise").annotations({
  message: () => ({ message: "must be free, pro or enterprise", override: true })
})

export type Plan = typeof Plan.Type

/** How a path or `X-Tenant` names a tenant: by uuid or by slug. */
export type TenantRef = { readonly id: TenantId } | { readonly slug: string }

const asTenantId = Schema.decodeUnknownOption(TenantId)

/** None for a text that is neither, and so names no tenant. */
export const tenantRef = (text: string): Option.Option<TenantRef> =>
  Option.orElse(
    Option.map(asTenantId(text.toLowerCase()), (id): TenantRef => ({ id })),
    () => (isSlug(text) ? Option.some({ slug: text }) : Option.none())
  )

export class Tenant extends Schema.Class<Tenant>("Tenant")({
  id: TenantId,
  name: Schema.String,
  slug: Schema.String,
  billingEmail: Schema.NullOr(Schema.String),
  plan: Plan,
  createdAt: Schema.DateTimeUtcFromDate,
  updatedAt: Schema.DateTimeUtcFromDate
}) {}

export class AccessToken extends Schema.Class<AccessToken>("AccessToken")({
  id: AccessTokenId,
  userId: UserId,
  name: Schema.String,
  abilities: Schema.Array(Ability),
  expiresAt: Schema.OptionFromNullOr(Schema.DateTimeUtcFromDate),
  lastUsedAt: Schema.OptionFromNullOr(Schema.DateTimeUtcFromDate),
  createdAt: Schema.DateTimeUtcFromDate
}) {}

/** What an endpoint asks of its caller. */
export interface Requirement {
  readonly ability: Ability
  readonly role: Role
}

/** Who calls the management API, with what the called endpoint asks of him. */
export interface Caller {
  readonly userId: UserId
  readonly tokenId: AccessTokenId
  readonly abilities: ReadonlyArray<Ability>
  readonly role: Role
}
