import { HttpApiBuilder } from "@effect/platform"
import { DateTime, Duration, Effect, Option } from "effect"
import { ServiceApi } from "../api/ServiceApi.ts"
import { callerApp } from "../catalog/CallerAppHttp.ts"
import { pageAnswer, pageOf } from "../http/Pages.ts"
import { Deliveries } from "../webhook/Deliveries.ts"
import { deliveryItem } from "../webhook/DeliveryView.ts"
import type { Endpoint } from "../webhook/domain/Endpoint.ts"
import {
  badTarget,
  busy,
  endpointChanges,
  endpointFields,
  endpointOfPath,
  endpointView,
  inactive,
  noDelivery,
  noWebhook,
  replayed
} from "../webhook/EndpointHttp.ts"
import { Endpoints } from "../webhook/Endpoints.ts"
import { eventItem } from "./domain/DomainEvent.ts"
import { testEvent } from "./Events.ts"

const webhookItem = (now: DateTime.Utc) => (endpoint: Endpoint) => ({
  uuid: endpoint.id,
  ...endpointView(endpoint, now)
})

const shown = (endpoint: Endpoint) => Effect.map(DateTime.now, (now) => webhookItem(now)(endpoint))

/** The webhook of the path, when the caller may do to its app what the called endpoint asks for. */
const callerWebhook = Effect.fn("callerWebhook")(
  function* (id: string) {
    const endpoint = yield* endpointOfPath("app", id)
    yield* callerApp(endpoint.ownerId)
    return endpoint
  },
  Effect.catchTags({ ...noWebhook, NotFound: noWebhook.EndpointNotFound })
)

export const AppWebhooksHttp = HttpApiBuilder.group(ServiceApi, "webhooks", (handlers) =>
  Effect.gen(function* () {
    const endpoints = yield* Endpoints
    const deliveries = yield* Deliveries

    return handlers
      .handle("listAppWebhooks", ({ path, urlParams }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          const page = yield* pageOf(urlParams)
          return pageAnswer(
            yield* endpoints.page(app.id, page),
            page.limit,
            ({ id }) => id,
            webhookItem(yield* DateTime.now)
          )
        })
      )
      .handle("createAppWebhook", ({ path, payload }) =>
        Effect.gen(function* () {
          const app = yield* callerApp(path.app)
          const owner = { kind: "app", id: app.id } as const
          const { endpoint, secret } = yield* endpoints.create({ owner, ...endpointFields(payload) })
          return { data: { ...(yield* shown(endpoint)), secret } }
        }).pipe(Effect.catchTags(badTarget))
      )
      .handle("getAppWebhook", ({ path }) =>
        Effect.gen(function* () {
          return { data: yield* shown(yield* callerWebhook(path.webhook)) }
        })
      )
      .handle("updateAppWebhook", ({ path, payload }) =>
        Effect.gen(function* () {
          const { id } = yield* callerWebhook(path.webhook)
          return { data: yield* shown(yield* endpoints.update(id, endpointChanges(payload))) }
        }).pipe(Effect.catchTags({ ...noWebhook, ...badTarget }))
      )
      .handle("rotateAppWebhookSecret", ({ path, payload }) =>
        Effect.gen(function* () {
          const { id } = yield* callerWebhook(path.webhook)
          const { endpoint, secret } = yield* endpoints.rotateSecret(id, Duration.seconds(payload.overlap_seconds))
          return { data: { ...(yield* shown(endpoint)), secret } }
        }).pipe(Effect.catchTags(noWebhook))
      )
      .handle("testAppWebhook", ({ path }) =>
        Effect.gen(function* () {
          const endpoint = yield* callerWebhook(path.webhook)
          const id = yield* endpoints.test(endpoint, eventItem(yield* testEvent(endpoint.id)))
          return { data: deliveryItem(yield* deliveries.byId("app", id)) }
        }).pipe(Effect.catchTags({ ...noDelivery, ...inactive }))
      )
      .handle("replayAppWebhook", ({ path, payload }) =>
        Effect.flatMap(callerWebhook(path.webhook), (endpoint) => replayed(endpoint, payload)).pipe(
          Effect.catchTags(inactive)
        )
      )
      .handle("deleteAppWebhook", ({ path }) =>
        Effect.gen(function* () {
          const { id } = yield* callerWebhook(path.webhook)
          yield* endpoints.remove(id)
          return { data: { uuid: id, deleted: true as const } }
        }).pipe(Effect.catchTags(noWebhook))
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
        }).pipe(Effect.catchTags({ ...noDelivery, ...busy, ...inactive }))
      )
  })
)
