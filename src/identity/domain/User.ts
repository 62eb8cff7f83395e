import { Schema } from "effect"
import { Ability, Role } from "./Ability.ts"

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

export const Plan = Schema.Literal("free", "pro", "enterprise")

export class Tenant extends Schema.Class<Tenant>("Tenant")({
  id: TenantId,
  name: Schema.String,
  slug: Schema.String,
  billingEmail: Schema.NullOr(Schema.String),
  plan: Plan
}) {}

/** A tenant as one of its members sees it. */
export class Membership extends Schema.Class<Membership>("Membership")({
  tenant: Tenant,
  role: Role
}) {}

export class AccessToken extends Schema.Class<AccessToken>("AccessToken")({
  id: AccessTokenId,
  userId: UserId,
  name: Schema.String,
  abilities: Schema.Array(Ability),
  expiresAt: Schema.OptionFromNullOr(Schema.DateTimeUtcFromDate),
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
