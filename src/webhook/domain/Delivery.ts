import { Schema } from "effect"
import type { Verdict } from "./Settle.ts"
import { DeliveryId, DeliveryState, EndpointId, OwnerKind } from "./Webhook.ts"

/** One try; `code` is the HTTP status, 0 where no answer came. Its id goes out as `X-Webhook-Delivery-Id`. */
export class DeliveryAttempt extends Schema.Class<DeliveryAttempt>("DeliveryAttempt")({
  id: Schema.UUID,
  number: Schema.Int,
  startedAt: Schema.DateTimeUtc,
  durationMs: Schema.Int,
  code: Schema.Int,
  /** The first 2 KiB. */
  responseBody: Schema.NullOr(Schema.String),
  error: Schema.NullOr(Schema.String)
}) {}

/** One event on its way to one endpoint, with everything that was tried. `payload` is what the body says. */
export class Delivery extends Schema.Class<Delivery>("Delivery")({
  id: DeliveryId,
  endpointId: EndpointId,
  ownerKind: OwnerKind,
  ownerId: Schema.UUID,
  eventId: Schema.UUID,
  event: Schema.String,
  state: DeliveryState,
  attemptCount: Schema.Int,
  dueAt: Schema.OptionFromNullOr(Schema.DateTimeUtcFromDate),
  createdAt: Schema.DateTimeUtcFromDate,
  payload: Schema.parseJson(Schema.Unknown),
  attempts: Schema.Array(DeliveryAttempt)
}) {}

/** A delivery that is due, with what an attempt needs. */
export class DueDelivery extends Schema.Class<DueDelivery>("DueDelivery")({
  id: DeliveryId,
  eventId: Schema.UUID,
  event: Schema.String,
  attemptCount: Schema.Int,
  body: Schema.String
}) {}

/** What became of one attempt, as it is written back. `dueAt` is none when there is nothing more to try. */
export interface Settlement extends Verdict {
  readonly deliveryId: DeliveryId
  readonly attempt: Omit<typeof DeliveryAttempt.Type, "number">
}
