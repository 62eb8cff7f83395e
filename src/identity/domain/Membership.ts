import { Option, Schema } from "effect"
import { reaches, Role } from "./Ability.ts"
import { Tenant, UserId } from "./User.ts"

export const MembershipId = Schema.UUID.pipe(Schema.brand("MembershipId"))
export type MembershipId = typeof MembershipId.Type

/** A tenant as one of its members sees it. The user's oldest membership is his default tenant. */
export class Membership extends Schema.Class<Membership>("Membership")({
  id: MembershipId,
  tenant: Tenant,
  role: Role
}) {}

/** A user as the other members of a tenant see him. */
export class Member extends Schema.Class<Member>("Member")({
  id: MembershipId,
  userId: UserId,
  name: Schema.String,
  email: Schema.String,
  role: Role,
  createdAt: Schema.DateTimeUtcFromDate
}) {}

/** Somebody wants a user's role in a tenant to go `from` one `to` another; none is "no member". */
export interface RoleChange {
  /** The role of who asks for it. */
  readonly actor: Role
  /** Whether he asks for himself. */
  readonly isOwn: boolean
  readonly from: Option.Option<Role>
  readonly to: Option.Option<Role>
  /** How many owners the tenant has now. */
  readonly owners: number
}

export type Refusal = "role_too_low" | "owners_only" | "last_owner"

const isOwner = (role: Option.Option<Role>) => Option.contains(role, "owner")

/**
 * Why a change of members is refused (contract, part 3, "Accounts and tokens"): members are the affair of admins, though
 * everyone may leave; owners are the affair of owners; a tenant keeps at least one owner.
 */
export const refusalOf = ({ actor, from, isOwn, owners, to }: RoleChange): Option.Option<Refusal> => {
  const leaves = isOwn && Option.isNone(to)
  if (!leaves && !reaches(actor, "admin")) return Option.some("role_too_low")
  if (actor !== "owner" && (isOwner(from) || isOwner(to))) return Option.some("owners_only")
  if (isOwner(from) && !isOwner(to) && owners <= 1) return Option.some("last_owner")
  return Option.none()
}
