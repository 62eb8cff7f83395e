import { HttpApiBuilder } from "@effect/platform"
import { DateTime, Effect, Option, Schema } from "effect"
import { Conflict, Invalid, NotFound } from "../api/Problem.ts"
import { ServiceApi } from "../api/ServiceApi.ts"
import { callerApp } from "../catalog/CallerAppHttp.ts"
import { pageAnswer, pageOf } from "../http/Pages.ts"
import { Deliveries } from "../webhook/Deliveries.ts"
import { deliveryItem } from "../webhook/DeliveryView.ts"
import type { Endpoint } from "../webhook/domain/Endpoint.ts"
import { EndpointId } from "../webhook/domain/Webhook.ts"
import { EndpointNotFound, Endpoints } from "../webhook/Endpoints.ts"

const webhookItem = (endpoint: Endpoint) => ({
  uuid: endpoint.id,
  url: endpoint.url,
  events: endpoint.events,
  is_active: endpoint.isActive,
  retry_count: endpoint.retryCount,
  timeout_seconds: endpoint.timeoutSeconds,
  disabled_reason: Option.getOrNull(endpoint.disabledReason),
  created_at: DateTime.formatIso(endpoint.createdAt)
})

export const AppWebhooksHttp = HttpApiBuilder.group(ServiceApi, "webhooks", (handlers) =>
  Effect.gen(function* () {
    const endpoints = yield* Endpoints
    const deliveries = yield* Deliveries

    return handlers
      .handle("listAppWebhooks", ({ path, urlParams }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          const page = yield* pageOf(urlParams)
          return pageAnswer(yield* endpoints.page(app.id, page), page.limit, ({ id }) => id, webhookItem)
        })
      )
      .handle("createAppWebhook", ({ path, payload }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          const { endpoint, secret } = yield* endpoints.create({
            owner: { kind: "app", id: app.id },
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
      .handle("deleteAppWebhook", ({ path }) =>
        Effect.gen(function* () {
          const id = yield* Effect.mapError(
            Schema.decodeUnknown(EndpointId)(path.webhook),
            () => new EndpointNotFound()
          )
          const endpoint = yield* endpoints.byId(id)
          if (endpoint.ownerKind !== "app") return yield* new EndpointNotFound()
          yield* callerApp(endpoint.ownerId)
          yield* endpoints.remove(id)
          return { data: { uuid: id, deleted: true as const } }
        }).pipe(Effect.catchTag("EndpointNotFound", () => new NotFound({ message: "No such webhook." })))
      )
      .handle("listAppDeliveries", ({ path, urlParams }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          const page = yield* pageOf(urlParams)
          const rows = yield* deliveries.page({
            ...page,
            ownerKind: "app",
            ownerId: Option.some(app.id),
            endpointId: Option.fromNullable(urlParams.webhook_id),
            event: Option.fromNullable(urlParams.event),
            state: Option.fromNullable(urlParams.state)
          })
          return pageAnswer(rows, page.limit, ({ id }) => id, deliveryItem)
        })
      )
      .handle("retryAppDelivery", ({ path }) =>
        Effect.gen(function* () {
          const delivery = yield* deliveries.byId("app", path.delivery)
          yield* callerApp(delivery.ownerId)
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
