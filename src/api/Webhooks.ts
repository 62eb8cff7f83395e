import { DateTime, Schema } from "effect"
import { DeliveryState } from "../webhook/domain/Webhook.ts"
import { fields, Moment, Timestamp, whole } from "./Envelope.ts"

const bounded = (minimum: number, maximum: number) => Schema.Int.pipe(Schema.between(minimum, maximum))

const RetryCount = bounded(0, 5).annotations({ description: "Attempts after the first" })
const TimeoutSeconds = bounded(1, 30).annotations({ description: "For connecting, headers and body of one attempt" })

const MaxPerSecond = Schema.NullOr(bounded(1, 1000)).annotations({
  description: "Attempts that may begin in any second, retries included; null: as many as the target takes"
})
const Ordered = Schema.Boolean.annotations({
  description:
    "Strict order: an event waits until the one before it of the same chat or customer has succeeded or has no retry left"
})

const TargetUrl = whole(Schema.String.pipe(Schema.minLength(1), Schema.maxLength(2048))).annotations({
  description: "http or https, without credentials, on a public address"
})

/** Body of registering a webhook for events of one side. */
export const newWebhook = <Filter extends string>(filter: Schema.Schema<Filter | "*">) =>
  fields({
    url: TargetUrl,
    events: Schema.optionalWith(Schema.NonEmptyArray(filter), { default: () => ["*"] as const }),
    retry_count: Schema.optionalWith(RetryCount, { default: () => 5 }),
    timeout_seconds: Schema.optionalWith(TimeoutSeconds, { default: () => 10 }),
    max_per_second: Schema.optionalWith(MaxPerSecond, { default: () => null }),
    ordered: Schema.optionalWith(Ordered, { default: () => false })
  })

const exact = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

/** Body of changing one: what is absent stays. */
export const webhookChanges = <Filter extends string>(filter: Schema.Schema<Filter>) =>
  fields({
    url: exact(TargetUrl),
    events: exact(Schema.NonEmptyArray(filter)),
    retry_count: exact(RetryCount),
    timeout_seconds: exact(TimeoutSeconds),
    max_per_second: exact(MaxPerSecond),
    ordered: exact(Ordered),
    is_active: exact(
      Schema.Boolean.annotations({ description: "`false` cancels what is due; `true` also clears `disabled_reason`" })
    )
  })

/** What every webhook shows, beside its id and whose it is. */
export const webhookFields = {
  url: Schema.String,
  events: Schema.Array(Schema.String),
  retry_count: Schema.Int,
  timeout_seconds: Schema.Int,
  max_per_second: Schema.NullOr(Schema.Int),
  ordered: Schema.Boolean,
  is_active: Schema.Boolean,
  disabled_reason: Schema.NullOr(Schema.String).annotations({
    description: "Why the system stopped it: the target answered 410 Gone, or no delivery succeeded for 3 days"
  }),
  circuit: Schema.Literal("closed", "open", "half_open").annotations({
    description:
      "After 50 attempts in a row without an answer below 500 (429 counts as none) it opens: nothing is sent, and nothing " +
      "is charged an attempt, for 5 s, doubling up to 5 min. Then (`half_open`) one delivery tries: success closes it. " +
      "`retry`, `replay` and `test` make it try at once"
  }),
  paused_until: Schema.NullOr(Timestamp).annotations({ description: "When an open circuit tries again" }),
  created_at: Timestamp
}

export const webhookExample = {
  url: "https://example.com/hooks",
  retry_count: 5,
  timeout_seconds: 10,
  max_per_second: null,
  ordered: false,
  is_active: true,
  disabled_reason: null,
  circuit: "closed",
  paused_until: null,
  created_at: "2026-03-02T08:00:00.000Z"
} as const

/** Body of sending a range again. */
export const replayRange = <Filter extends string>(filter: Schema.Schema<Filter>) =>
  fields({
    from: Moment.annotations({ description: "Included" }),
    to: Moment.annotations({ description: "Not included" }),
    events: exact(Schema.NonEmptyArray(filter))
  }).pipe(
    Schema.filter(({ from, to }) =>
      DateTime.lessThan(from, to) ? undefined : { path: ["to"], message: "must be later than from" }
    )
  )

export const Replayed = Schema.Struct({
  replayed: Schema.Int.annotations({ description: "Deliveries made: at most 10,000 at a time" }),
  continue_from: Schema.NullOr(Timestamp).annotations({
    description: "Set when there is more: the `from` of the next call, with the same `to`"
  })
}).annotations({ identifier: "WebhookReplay", examples: [{ replayed: 42, continue_from: null }] })

export const replayDescription =
  "What happened in the range goes to this webhook once more, as new deliveries of the same event ids, oldest first: of " +
  "what it subscribes to now, or of `events` among it. What still waits is not doubled. 409 when inactive."

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
  state: DeliveryState.annotations({
    description:
      "`pending`: not tried yet; `delivering`: being sent now; `failed`: waits for its next attempt; `exhausted`: none is " +
      "left; `canceled`: its webhook was removed or stopped"
  }),
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
