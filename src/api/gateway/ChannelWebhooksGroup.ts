import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { GatewayEvent } from "../../channel/domain/GatewayEvent.ts"
import { DeliveryState } from "../../webhook/domain/Webhook.ts"
import { data, Deleted, fields, list, Timestamp } from "../Envelope.ts"
import { cursor, limit, PageQuery } from "../Page.ts"
import { BadRequest, Conflict, Invalid, NotFound } from "../Problem.ts"
import { repeatable } from "../Repeatable.ts"
import { OperatorAuth } from "../Security.ts"
import { Delivery, RetryCount, TargetUrl, TimeoutSeconds } from "../Webhooks.ts"
import { accountPath } from "./AccountsGroup.ts"

const Webhook = Schema.Struct({
  id: Schema.String,
  account_id: Schema.String,
  url: Schema.String,
  events: Schema.Array(Schema.String),
  retry_count: Schema.Int,
  timeout_seconds: Schema.Int,
  is_active: Schema.Boolean,
  disabled_reason: Schema.NullOr(Schema.String),
  created_at: Timestamp
}).annotations({ identifier: "Webhook" })

const EventFilter = Schema.Literal("*", ...GatewayEvent.literals)

const webhookPath = HttpApiSchema.param("webhook", Schema.String)

export class ChannelWebhooksGroup extends HttpApiGroup.make("channelWebhooks")
  .add(
    HttpApiEndpoint.get("listWebhooks")`/accounts/${accountPath}/webhooks`
      .setUrlParams(PageQuery)
      .addSuccess(list(Webhook))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .annotate(OpenApi.Summary, "List the webhooks of an account")
  )
  .add(
    HttpApiEndpoint.post("createWebhook")`/accounts/${accountPath}/webhooks`
      .setPayload(
        fields({
          url: TargetUrl,
          events: Schema.optionalWith(Schema.NonEmptyArray(EventFilter), { default: () => ["*"] as const }),
          retry_count: Schema.optionalWith(RetryCount, { default: () => 5 }),
          timeout_seconds: Schema.optionalWith(TimeoutSeconds, { default: () => 10 })
        })
      )
      .addSuccess(
        data(
          Schema.Struct({
            ...Webhook.fields,
            secret: Schema.Redacted(Schema.String).annotations({ description: "Shown once" })
          })
        ),
        { status: 201 }
      )
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotateContext(repeatable("leased"))
      .annotate(OpenApi.Summary, "Register a webhook")
  )
  .add(
    HttpApiEndpoint.del("deleteWebhook")`/webhooks/${webhookPath}`
      .addSuccess(Deleted)
      .addError(NotFound.wire)
      .annotate(OpenApi.Summary, "Remove a webhook")
  )
  .add(
    HttpApiEndpoint.get("listDeliveries", "/webhook-deliveries")
      .setUrlParams(
        fields({
          limit,
          cursor,
          account_id: Schema.optional(Schema.UUID),
          webhook_id: Schema.optional(Schema.UUID),
          event: Schema.optional(Schema.String),
          state: Schema.optional(DeliveryState)
        })
      )
      .addSuccess(list(Delivery))
      .addError(BadRequest.wire)
      .addError(Invalid.wire)
      .annotate(OpenApi.Summary, "List deliveries with their attempts")
  )
  .add(
    HttpApiEndpoint.post("retryDelivery")`/webhook-deliveries/${HttpApiSchema.param("delivery", Schema.String)}/retry`
      .addSuccess(data(Delivery))
      .addError(NotFound.wire)
      .addError(Conflict.wire)
      .annotate(OpenApi.Summary, "Send a delivery once more, now")
  )
  .middleware(OperatorAuth) {}
