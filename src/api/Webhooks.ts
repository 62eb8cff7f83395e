import { Schema } from "effect"
import { DeliveryState } from "../webhook/domain/Webhook.ts"
import { fields, Timestamp } from "./Envelope.ts"

const bounded = (minimum: number, maximum: number) => Schema.Int.pipe(Schema.between(minimum, maximum))

const RetryCount = bounded(0, 5).annotations({ description: "Attempts after the first" })
const TimeoutSeconds = bounded(1, 30).annotations({ description: "For connecting, headers and body of one attempt" })

const TargetUrl = Schema.String.pipe(Schema.minLength(1), Schema.maxLength(2048)).annotations({
  description: "http or https, without credentials, on a public address"
})

/** Body of registering a webhook for events of one side. */
export const newWebhook = <Filter extends string>(filter: Schema.Schema<Filter | "*">) =>
  fields({
    url: TargetUrl,
    events: Schema.optionalWith(Schema.NonEmptyArray(filter), { default: () => ["*"] as const }),
    retry_count: Schema.optionalWith(RetryCount, { default: () => 5 }),
    timeout_seconds: Schema.optionalWith(TimeoutSeconds, { default: () => 10 })
  })

const exact = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

/** Body of changing one: what is absent stays. */
export const webhookChanges = <Filter extends string>(filter: Schema.Schema<Filter>) =>
  fields({
    url: exact(TargetUrl),
    events: exact(Schema.NonEmptyArray(filter)),
    retry_count: exact(RetryCount),
    timeout_seconds: exact(TimeoutSeconds),
    is_active: exact(
      Schema.Boolean.annotations({ description: "`false` cancels what is due; `true` also clears `disabled_reason`" })
    )
  })

/** Body of rotating a secret. */
export const Rotation = fields({
  overlap_seconds: Schema.optionalWith(bounded(0, 604_800), { default: () => 86_400 }).annotations({
    description:
      "How long the old secret signs along: in `X-Webhook-Signature-Previous`, and as a second signature in " +
      "`webhook-signature`; 0 ends it at once"
  })
})

export const WebhookSecret = Schema.Redacted(Schema.String).annotations({ description: "`whsec_…`, shown once" })

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
}).annotations({
  identifier: "WebhookDelivery",
  examples: [
    {
      id: "019a9a4c-33c8-7b9a-a1d4-0c8e5f2b7d6c",
      webhook_id: "019a9a4b-33c8-7b9a-a1d4-0c8e5f2b7d6b",
      account_id: "019a9a4e-33c8-7b9a-a1d4-0c8e5f2b7d6e",
      event: "message.received",
      state: "succeeded",
      attempt_count: 1,
      next_attempt_at: null,
      created_at: "2026-03-02T08:00:00.000Z",
      payload: { event: "message.received" },
      attempts: [
        {
          delivery_id: "019a9a49-33c8-7b9a-a1d4-0c8e5f2b7d69",
          number: 1,
          started_at: "2026-03-02T08:00:00.000Z",
          duration_ms: 12,
          response_status: 200,
          response_body: "",
          error: null,
          code: 200
        }
      ]
    }
  ]
})
