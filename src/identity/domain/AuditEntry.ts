import { Schema } from "effect"
import { AccessTokenId, TenantId, UserId } from "./User.ts"

/** One change that a member made in a workspace: who, what, to which record, when and from where, without any secret. */
export class AuditEntry extends Schema.Class<AuditEntry>("AuditEntry")({
  id: Schema.UUID,
  tenantId: TenantId,
  userId: UserId,
  tokenId: AccessTokenId,
  /** `operationId` of the API reference. */
  operation: Schema.String,
  /** The record that was made or changed; none where the operation concerns several. */
  recordId: Schema.OptionFromNullOr(Schema.String),
  /** The parameters of the path by name. */
  path: Schema.Record({ key: Schema.String, value: Schema.String }),
  /** The body as it was understood, secrets as `<redacted>`. */
  changes: Schema.OptionFromNullOr(Schema.Unknown),
  address: Schema.OptionFromNullOr(Schema.String),
  requestId: Schema.String,
  createdAt: Schema.DateTimeUtcFromDate
}) {}

/** An entry with its user's name, none once the user is gone. */
export class ToldEntry extends AuditEntry.extend<ToldEntry>("ToldEntry")({
  userName: Schema.OptionFromNullOr(Schema.String)
}) {}
