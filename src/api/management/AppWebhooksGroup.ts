import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { DomainEventFilter } from "../../subscription/domain/DomainEvent.ts"
import { DeliveryState } from "../../webhook/domain/Webhook.ts"
import { data, Deleted, fields, Key, list } from "../Envelope.ts"
import { cursor, limit, PageQuery } from "../Page.ts"
import { BadRequest, Conflict, Invalid, NotFound } from "../Problem.ts"
import { repeatable } from "../Repeatable.ts"
import { AccessTokenAuth, requires } from "../Security.ts"
import {
  Delivery,
  newWebhook,
  Replayed,
  replayDescription,
  replayRange,
  Rotation,
  webhookChanges,
  webhookExample,
  webhookFields,
  WebhookSecret
} from "../Webhooks.ts"
import { appPath } from "./AppsGroup.ts"

export const AppWebhook = Schema.Struct({
  uuid: Schema.String,
  ...webhookFields
}).annotations({
  identifier: "AppWebhook",
  examples: [
    {
      uuid: "019a9a4b-33c8-7b9a-a1d4-0c8e5f2b7d6b",
      ...webhookExample,
      events: ["subscription.*"]
    }
  ]
})

const WithSecret = Schema.Struct({ ...AppWebhook.fields, secret: WebhookSecret })

const webhookPath = HttpApiSchema.param("webhook", Schema.String)

export class AppWebhooksGroup extends HttpApiGroup.make("webhooks")
  .add(
    HttpApiEndpoint.get("listAppWebhooks")`/apps/${appPath}/webhooks`
      .setUrlParams(PageQuery)
      .addSuccess(list(AppWebhook))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("webhooks:read"))
      .annotate(OpenApi.Summary, "List webhook endpoints")
  )
  .add(
    HttpApiEndpoint.post("createAppWebhook")`/apps/${appPath}/webhooks`
      .setPayload(newWebhook(DomainEventFilter))
      .addSuccess(data(WithSecret), { status: 201 })
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("webhooks:write"))
      .annotateContext(repeatable("leased"))
      .annotate(OpenApi.Summary, "Register a webhook endpoint")
  )
  .add(
    HttpApiEndpoint.get("getAppWebhook")`/webhooks/${webhookPath}`
      .addSuccess(data(AppWebhook))
      .addError(NotFound.wire)
      .annotateContext(requires("webhooks:read"))
      .annotate(OpenApi.Summary, "Show a webhook endpoint")
  )
  .add(
    HttpApiEndpoint.patch("updateAppWebhook")`/webhooks/${webhookPath}`
      .setPayload(webhookChanges(DomainEventFilter))
      .addSuccess(data(AppWebhook))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("webhooks:write"))
      .annotateContext(repeatable("leased"))
      .annotate(OpenApi.Summary, "Change a webhook endpoint")
      .annotate(OpenApi.Description, "Holds for the next attempt of what is already under way.")
  )
  .add(
    HttpApiEndpoint.post("rotateAppWebhookSecret")`/webhooks/${webhookPath}/rotate-secret`
      .setPayload(Rotation)
      .addSuccess(data(WithSecret))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("webhooks:write"))
      .annotate(OpenApi.Summary, "Replace the secret of a webhook endpoint")
  )
  .add(
    HttpApiEndpoint.post("testAppWebhook")`/webhooks/${webhookPath}/test`
      .addSuccess(data(Delivery), { status: 201 })
      .addError(NotFound.wire)
      .addError(Conflict.wire)
      .annotateContext(requires("webhooks:write"))
      .annotate(OpenApi.Summary, "Send `webhook.test` to one endpoint, whatever its `events` are")
      .annotate(OpenApi.Description, "The answer is the delivery, whose attempts can be followed. 409 when inactive.")
  )
  .add(
    HttpApiEndpoint.post("replayAppWebhook")`/webhooks/${webhookPath}/replay`
      .setPayload(replayRange(DomainEventFilter))
      .addSuccess(data(Replayed))
      .addError(NotFound.wire)
      .addError(Conflict.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("webhooks:write"))
      .annotateContext(repeatable("together"))
      .annotate(OpenApi.Summary, "Send a range of events again")
      .annotate(OpenApi.Description, replayDescription)
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
          event: Schema.optional(Key),
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
