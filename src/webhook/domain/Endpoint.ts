import { Schema } from "effect"
import { EndpointId, type Owner, OwnerKind } from "./Webhook.ts"

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
  /** Why the system stopped it; none when it is active or was stopped by its owner. */
  disabledReason: Schema.OptionFromNullOr(Schema.String),
  /** The first failure since the last success. */
  failingSince: Schema.OptionFromNullOr(Schema.DateTimeUtcFromDate),
  createdAt: Schema.DateTimeUtcFromDate
}) {
  get owner(): Owner {
    return { kind: this.ownerKind, id: this.ownerId }
  }
}
