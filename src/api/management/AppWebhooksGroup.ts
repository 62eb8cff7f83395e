import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { DomainEventFilter } from "../../subscription/domain/DomainEvent.ts"
import { DeliveryState } from "../../webhook/domain/Webhook.ts"
import { data, Deleted, fields, list, Timestamp } from "../Envelope.ts"
import { cursor, limit, PageQuery } from "../Page.ts"
import { BadRequest, Conflict, Invalid, NotFound } from "../Problem.ts"
import { repeatable } from "../Repeatable.ts"
import { AccessTokenAuth, requires } from "../Security.ts"
import { Delivery, RetryCount, TargetUrl, TimeoutSeconds } from "../Webhooks.ts"
import { appPath } from "./AppsGroup.ts"

export const AppWebhook = Schema.Struct({
  uuid: Schema.String,
  url: Schema.String,
  events: Schema.Array(Schema.String),
  is_active: Schema.Boolean,
  retry_count: Schema.Int,
  timeout_seconds: Schema.Int,
  disabled_reason: Schema.NullOr(Schema.String),
  created_at: Timestamp
}).annotations({ identifier: "AppWebhook" })

const webhookPath = HttpApiSchema.param("webhook", Schema.String)

export class AppWebhooksGroup extends HttpApiGroup.make("webhooks")
  .add(
    HttpApiEndpoint.get("listAppWebhooks")`/apps/${appPath}/webhooks`
      .setUrlParams(PageQuery)
      .addSuccess(list(AppWebhook))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .annotateContext(requires("webhooks:read"))
      .annotate(OpenApi.Summary, "List webhook endpoints")
  )
  .add(
    HttpApiEndpoint.post("createAppWebhook")`/apps/${appPath}/webhooks`
      .setPayload(
        fields({
          url: TargetUrl,
          events: Schema.optionalWith(Schema.NonEmptyArray(DomainEventFilter), { default: () => ["*"] as const }),
          retry_count: Schema.optionalWith(RetryCount, { default: () => 5 }),
          timeout_seconds: Schema.optionalWith(TimeoutSeconds, { default: () => 10 })
        })
      )
      .addSuccess(
        data(
          Schema.Struct({
            ...AppWebhook.fields,
            secret: Schema.Redacted(Schema.String).annotations({ description: "Shown once" })
          })
        ),
        { status: 201 }
      )
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("webhooks:write"))
      .annotateContext(repeatable("leased"))
      .annotate(OpenApi.Summary, "Register a webhook endpoint")
  )
  .add(
    HttpApiEndpoint.del("deleteAppWebhook")`/webhooks/${webhookPath}`
      .addSuccess(Deleted)
      .addError(NotFound.wire)
      .annotateContext(requires("webhooks:write"))
      .annotate(OpenApi.Summary, "Remove a webhook endpoint")
  )
  .add(
    HttpApiEndpoint.get("listAppDeliveries")`/apps/${appPath}/webhook-deliveries`
      .setUrlParams(
        fields({
          limit,
          cursor,
          webhook_id: Schema.optional(Schema.UUID),
          event: Schema.optional(Schema.String),
          state: Schema.optional(DeliveryState)
        })
      )
      .addSuccess(list(Delivery))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("webhooks:read"))
      .annotate(OpenApi.Summary, "List deliveries with their attempts")
  )
  .add(
    HttpApiEndpoint.post(
      "retryAppDelivery"
    )`/webhook-deliveries/${HttpApiSchema.param("delivery", Schema.String)}/retry`
      .addSuccess(data(Delivery))
      .addError(NotFound.wire)
      .addError(Conflict.wire)
      .annotateContext(requires("webhooks:write"))
      .annotate(OpenApi.Summary, "Send a delivery once more, now")
  )
  .middleware(AccessTokenAuth) {}
