import { DateTime, Option, Schema } from "effect"

export const GrantId = Schema.UUID.pipe(Schema.brand("GrantId"))
export type GrantId = typeof GrantId.Type

/** Access that the team gave away. Without `expiresDate` it never ends by itself; a revoked one is kept as history. */
export class Grant extends Schema.Class<Grant>("Grant")({
  id: GrantId,
  entitlementIdentifier: Schema.String,
  grantedAt: Schema.DateTimeUtcFromDate,
  expiresDate: Schema.OptionFromNullOr(Schema.DateTimeUtcFromDate),
  revokedAt: Schema.OptionFromNullOr(Schema.DateTimeUtcFromDate)
}) {
  isActiveAt(now: DateTime.Utc): boolean {
    return Option.isNone(this.revokedAt) && !Option.exists(this.expiresDate, DateTime.lessThanOrEqualTo(now))
  }
}
