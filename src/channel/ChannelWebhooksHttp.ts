import { HttpApiBuilder } from "@effect/platform"
import { DateTime, Effect, Option, Schema } from "effect"
import { Conflict, Invalid, NotFound } from "../api/Problem.ts"
import { ServiceApi } from "../api/ServiceApi.ts"
import { pageAnswer, pageOf } from "../http/Pages.ts"
import { Deliveries } from "../webhook/Deliveries.ts"
import { deliveryItem } from "../webhook/DeliveryView.ts"
import type { Endpoint } from "../webhook/domain/Endpoint.ts"
import { EndpointId } from "../webhook/domain/Webhook.ts"
import { EndpointNotFound, Endpoints } from "../webhook/Endpoints.ts"
import { channelOfPath } from "./CallerChannelHttp.ts"

const webhookItem = (endpoint: Endpoint) => ({
  id: endpoint.id,
  account_id: endpoint.ownerId,
  url: endpoint.url,
  events: endpoint.events,
  retry_count: endpoint.retryCount,
  timeout_seconds: endpoint.timeoutSeconds,
  is_active: endpoint.isActive,
  disabled_reason: Option.getOrNull(endpoint.disabledReason),
  created_at: DateTime.formatIso(endpoint.createdAt)
})

const noSuchWebhook = () => new NotFound({ message: "No such webhook." })

export const ChannelWebhooksHttp = HttpApiBuilder.group(ServiceApi, "channelWebhooks", (handlers) =>
  Effect.gen(function* () {
    const endpoints = yield* Endpoints
    const deliveries = yield* Deliveries

    return handlers
      .handle("listWebhooks", ({ path, urlParams }) =>
        Effect.gen(function* () {
          const channel = yield* channelOfPath(path.id)
          const page = yield* pageOf(urlParams)
          return pageAnswer(yield* endpoints.page(channel.id, page), page.limit, ({ id }) => id, webhookItem)
        })
      )
      .handle("createWebhook", ({ path, payload }) =>
        Effect.gen(function* () {
          const channel = yield* channelOfPath(path.id)
          const { endpoint, secret } = yield* endpoints.create({
            owner: { kind: "account", id: channel.id },
            url: payload.url,
            events: payload.events,
            retryCount: payload.retry_count,
            timeoutSeconds: payload.timeout_seconds
          })
          return { data: { ...webhookItem(endpoint), secret } }
        }).pipe(
          Effect.catchTag(
            "TargetRefused",
            ({ reason }) => new Invalid({ message: "The given data was invalid.", errors: { url: [reason] } })
          )
        )
      )
      .handle("deleteWebhook", ({ path }) =>
        Effect.gen(function* () {
          const id = yield* Effect.mapError(
            Schema.decodeUnknown(EndpointId)(path.webhook),
            () => new EndpointNotFound()
          )
          const endpoint = yield* endpoints.byId(id)
          if (endpoint.ownerKind !== "account") return yield* new EndpointNotFound()
          yield* endpoints.remove(id)
          return { data: { uuid: id, deleted: true as const } }
        }).pipe(Effect.catchTag("EndpointNotFound", noSuchWebhook))
      )
      .handle("listDeliveries", ({ urlParams }) =>
        Effect.gen(function* () {
          const page = yield* pageOf(urlParams)
          const rows = yield* deliveries.page({
            ...page,
            ownerKind: "account",
            ownerId: Option.fromNullable(urlParams.account_id),
            endpointId: Option.fromNullable(urlParams.webhook_id),
            event: Option.fromNullable(urlParams.event),
            state: Option.fromNullable(urlParams.state)
          })
          return pageAnswer(rows, page.limit, ({ id }) => id, deliveryItem)
        })
      )
      .handle("retryDelivery", ({ path }) =>
        Effect.gen(function* () {
          const delivery = yield* deliveries.byId("account", path.delivery)
          return { data: deliveryItem(yield* deliveries.retry(delivery)) }
        }).pipe(
          Effect.catchTags({
            DeliveryNotFound: () => new NotFound({ message: "No such delivery." }),
            DeliveryBusy: () => new Conflict({ message: "The delivery is being sent." }),
            EndpointInactive: () => new Conflict({ message: "The webhook is not active." })
          })
        )
      )
  })
)
