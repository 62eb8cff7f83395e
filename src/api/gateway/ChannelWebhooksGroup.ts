import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { GatewayEvent } from "../../channel/domain/GatewayEvent.ts"
import { DeliveryState } from "../../webhook/domain/Webhook.ts"
import { data, Deleted, fields, Key, list } from "../Envelope.ts"
import { cursor, limit, PageQuery } from "../Page.ts"
import { BadRequest, Conflict, Invalid, NotFound } from "../Problem.ts"
import { repeatable } from "../Repeatable.ts"
import { OperatorAuth } from "../Security.ts"
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
import { accountPath } from "./AccountsGroup.ts"

const Webhook = Schema.Struct({
  id: Schema.String,
  account_id: Schema.String,
  ...webhookFields
}).annotations({
  identifier: "Webhook",
  examples: [
    {
      id: "019a9a4b-33c8-7b9a-a1d4-0c8e5f2b7d6b",
      account_id: "019a9a4e-33c8-7b9a-a1d4-0c8e5f2b7d6e",
      ...webhookExample,
      events: ["message.*"]
    }
  ]
})

const families = ["message.*", "chat.*", "group.*", "connection.*", "ai.*", "ai.reply.*"] as const

const EventFilter = Schema.Literal("*", ...families, ...GatewayEvent.literals)

const WithSecret = Schema.Struct({ ...Webhook.fields, secret: WebhookSecret })

const webhookPath = HttpApiSchema.param("webhook", Schema.String)

export class ChannelWebhooksGroup extends HttpApiGroup.make("channelWebhooks")
  .add(
    HttpApiEndpoint.get("listWebhooks")`/accounts/${accountPath}/webhooks`
      .setUrlParams(PageQuery)
      .addSuccess(list(Webhook))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotate(OpenApi.Summary, "List the webhooks of an account")
  )
  .add(
    HttpApiEndpoint.post("createWebhook")`/accounts/${accountPath}/webhooks`
      .setPayload(newWebhook(EventFilter))
      .addSuccess(data(WithSecret), { status: 201 })
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotateContext(repeatable("leased"))
      .annotate(OpenApi.Summary, "Register a webhook")
  )
  .add(
    HttpApiEndpoint.get("getWebhook")`/webhooks/${webhookPath}`
      .addSuccess(data(Webhook))
      .addError(NotFound.wire)
      .annotate(OpenApi.Summary, "Show a webhook")
  )
  .add(
    HttpApiEndpoint.patch("updateWebhook")`/webhooks/${webhookPath}`
      .setPayload(webhookChanges(EventFilter))
      .addSuccess(data(Webhook))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotate(OpenApi.Summary, "Change a webhook")
      .annotate(OpenApi.Description, "Holds for the next attempt of what is already under way.")
  )
  .add(
    HttpApiEndpoint.post("rotateWebhookSecret")`/webhooks/${webhookPath}/rotate-secret`
      .setPayload(Rotation)
      .addSuccess(data(WithSecret))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotate(OpenApi.Summary, "Replace the secret of a webhook")
  )
  .add(
    HttpApiEndpoint.post("testWebhook")`/webhooks/${webhookPath}/test`
      .addSuccess(data(Delivery), { status: 201 })
      .addError(NotFound.wire)
      .addError(Conflict.wire)
      .annotate(OpenApi.Summary, "Send `webhook.test` to one webhook, whatever its `events` are")
      .annotate(OpenApi.Description, "The answer is the delivery, whose attempts can be followed. 409 when inactive.")
  )
  .add(
    HttpApiEndpoint.post("replayWebhook")`/webhooks/${webhookPath}/replay`
      .setPayload(replayRange(EventFilter))
      .addSuccess(data(Replayed))
      .addError(NotFound.wire)
      .addError(Conflict.wire)
      .addError(Invalid.wire)
      .annotateContext(repeatable("together"))
      .annotate(OpenApi.Summary, "Send a range of events again")
      .annotate(OpenApi.Description, replayDescription)
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
          event: Schema.optional(Key),
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
