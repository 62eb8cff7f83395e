import { Schema } from "effect"
import { DeliveryState } from "../webhook/domain/Webhook.ts"
import { Timestamp } from "./Envelope.ts"

const bounded = (minimum: number, maximum: number) => Schema.Int.pipe(Schema.between(minimum, maximum))

export const RetryCount = bounded(0, 5)
export const TimeoutSeconds = bounded(1, 30)

export const TargetUrl = Schema.String.pipe(Schema.minLength(1), Schema.maxLength(2048))

const attempt = Schema.Struct({
  delivery_id: Schema.String.annotations({ description: "`X-Webhook-Delivery-Id` of this attempt" }),
  number: Schema.Int,
  started_at: Timestamp,
  duration_ms: Schema.Int,
  response_status: Schema.NullOr(Schema.Int),
  response_body: Schema.NullOr(Schema.String).annotations({ description: "The first 2 KiB" }),
  error: Schema.NullOr(Schema.String),
  code: Schema.Int.annotations({ description: "HTTP status, 0 where no answer came" })
})

/** One event on its way to one endpoint. */
export const Delivery = Schema.Struct({
  id: Schema.String,
  webhook_id: Schema.String,
  account_id: Schema.String.annotations({ description: "The account, or the app, whose event it is" }),
  event: Schema.String,
  state: DeliveryState,
  attempt_count: Schema.Int,
  next_attempt_at: Schema.NullOr(Timestamp),
  created_at: Timestamp,
  payload: Schema.Unknown,
  attempts: Schema.Array(attempt)
}).annotations({ identifier: "WebhookDelivery" })
