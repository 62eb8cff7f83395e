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
  /** Attempts that may begin in any second; none: as many as the target takes. */
  maxPerSecond: Schema.OptionFromNullOr(Schema.Int),
  /** An event waits until the one before it of the same chat or customer is done. */
  isOrdered: Schema.Boolean,
  /** While its circuit is open, or half open when the moment has passed: none when it is closed. */
  pausedUntil: Schema.OptionFromNullOr(Schema.DateTimeUtcFromDate),
  pauses: Schema.Int,
  /** The first failure since the last success. */
  failingSince: Schema.OptionFromNullOr(Schema.DateTimeUtcFromDate),
  createdAt: Schema.DateTimeUtcFromDate
}) {
  get owner(): Owner {
    return { kind: this.ownerKind, id: this.ownerId }
  }
}
