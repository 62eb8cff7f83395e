import { DateTime, Option } from "effect"
import type { IssuedToken } from "./AccessTokens.ts"
import type { Member } from "./domain/Membership.ts"
import type { AccessToken, AccessTokenId, Tenant, User } from "./domain/User.ts"

/** Records of this context in wire form. */
export const tenantItem = (tenant: Tenant) => ({
  uuid: tenant.id,
  name: tenant.name,
  slug: tenant.slug,
  billing_email: tenant.billingEmail,
  plan: tenant.plan,
  created_at: DateTime.formatIso(tenant.createdAt),
  updated_at: DateTime.formatIso(tenant.updatedAt)
})

export const memberItem = (member: Member) => ({
  uuid: member.userId,
  name: member.name,
  email: member.email,
  role: member.role,
  created_at: DateTime.formatIso(member.createdAt)
})

export const userItem = (user: User) => ({
  uuid: user.id,
  name: user.name,
  email: user.email,
  created_at: DateTime.formatIso(user.createdAt)
})

const timeOrNull = (time: Option.Option<DateTime.Utc>) => Option.getOrNull(Option.map(time, DateTime.formatIso))

/** A token as it is answered once, when it is made. */
export const newTokenItem = ({ record, token }: IssuedToken) => ({
  uuid: record.id,
  name: record.name,
  abilities: record.abilities,
  token,
  created_at: DateTime.formatIso(record.createdAt),
  expires_at: timeOrNull(record.expiresAt)
})

export const tokenItem = (token: AccessToken, current: AccessTokenId) => ({
  uuid: token.id,
  name: token.name,
  abilities: token.abilities,
  created_at: DateTime.formatIso(token.createdAt),
  expires_at: timeOrNull(token.expiresAt),
  last_used_at: timeOrNull(token.lastUsedAt),
  is_current: token.id === current
})
