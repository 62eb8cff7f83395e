import { DateTime, Option } from "effect"
import type { AccessToken, Tenant, User } from "./domain/User.ts"

/** Records of this context in wire form. */
export const tenantItem = (tenant: Tenant) => ({
  uuid: tenant.id,
  name: tenant.name,
  slug: tenant.slug,
  billing_email: tenant.billingEmail,
  plan: tenant.plan
})

export const userItem = (user: User) => ({
  uuid: user.id,
  name: user.name,
  email: user.email,
  created_at: DateTime.formatIso(user.createdAt)
})

export const tokenItem = (token: AccessToken) => ({
  uuid: token.id,
  name: token.name,
  abilities: token.abilities,
  created_at: DateTime.formatIso(token.createdAt),
  expires_at: Option.getOrNull(Option.map(token.expiresAt, DateTime.formatIso))
})
