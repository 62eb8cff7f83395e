import { Schema } from "effect"
import { EndpointId, OwnerKind } from "./Webhook.ts"

/** Where events go, with what it was promised: at most `retryCount` repeats, `timeoutSeconds` for each attempt. */
export class Endpoint extends Schema.Class<Endpoint>("Endpoint")({
  id: EndpointId,
  ownerKind: OwnerKind,
  ownerId: Schema.UUID,
  url: Schema.String,
  events: Schema.Array(Schema.String),
  retryCount: Schema.Int,
  timeoutSeconds: Schema.Int,
  isActive: Schema.Boolean,
  disabledReason: Schema.OptionFromNullOr(Schema.String),
  createdAt: Schema.DateTimeUtcFromDate
}) {}
