import { HttpApiBuilder } from "@effect/platform"
import { DateTime, Duration, Effect, Option } from "effect"
import { ServiceApi } from "../api/ServiceApi.ts"
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
import { channelOfPath } from "./CallerChannelHttp.ts"

const webhookItem = (now: DateTime.Utc) => (endpoint: Endpoint) => ({
  id: endpoint.id,
  account_id: endpoint.ownerId,
  ...endpointView(endpoint, now)
})

const shown = (endpoint: Endpoint) => Effect.map(DateTime.now, (now) => webhookItem(now)(endpoint))

export const ChannelWebhooksHttp = HttpApiBuilder.group(ServiceApi, "channelWebhooks", (handlers) =>
  Effect.gen(function* () {
    const endpoints = yield* Endpoints
    const deliveries = yield* Deliveries

    return handlers
      .handle("listWebhooks", ({ path, urlParams }) =>
        Effect.gen(function* () {
          const channel = yield* channelOfPath(path.id)
          const page = yield* pageOf(urlParams)
          return pageAnswer(
            yield* endpoints.page(channel.id, page),
            page.limit,
            ({ id }) => id,
            webhookItem(yield* DateTime.now)
          )
        })
      )
      .handle("createWebhook", ({ path, payload }) =>
        Effect.gen(function* () {
          const channel = yield* channelOfPath(path.id)
          const owner = { kind: "account", id: channel.id } as const
          const { endpoint, secret } = yield* endpoints.create({ owner, ...endpointFields(payload) })
          return { data: { ...(yield* shown(endpoint)), secret } }
        }).pipe(Effect.catchTags(badTarget))
      )
      .handle("getWebhook", ({ path }) =>
        Effect.gen(function* () {
          return { data: yield* shown(yield* endpointOfPath("account", path.webhook)) }
        }).pipe(Effect.catchTags(noWebhook))
      )
      .handle("updateWebhook", ({ path, payload }) =>
        Effect.gen(function* () {
          const { id } = yield* endpointOfPath("account", path.webhook)
          return { data: yield* shown(yield* endpoints.update(id, endpointChanges(payload))) }
        }).pipe(Effect.catchTags({ ...noWebhook, ...badTarget }))
      )
      .handle("rotateWebhookSecret", ({ path, payload }) =>
        Effect.gen(function* () {
          const { id } = yield* endpointOfPath("account", path.webhook)
          const { endpoint, secret } = yield* endpoints.rotateSecret(id, Duration.seconds(payload.overlap_seconds))
          return { data: { ...(yield* shown(endpoint)), secret } }
        }).pipe(Effect.catchTags(noWebhook))
      )
      .handle("testWebhook", ({ path }) =>
        Effect.gen(function* () {
          const endpoint = yield* endpointOfPath("account", path.webhook)
          const id = yield* endpoints.test(endpoint, { webhook_id: endpoint.id, account_id: endpoint.ownerId })
          return { data: deliveryItem(yield* deliveries.byId("account", id)) }
        }).pipe(Effect.catchTags({ ...noDelivery, ...inactive, ...noWebhook }))
      )
      .handle("replayWebhook", ({ path, payload }) =>
        Effect.flatMap(endpointOfPath("account", path.webhook), (endpoint) => replayed(endpoint, payload)).pipe(
          Effect.catchTags({ ...inactive, ...noWebhook })
        )
      )
      .handle("deleteWebhook", ({ path }) =>
        Effect.gen(function* () {
          const { id } = yield* endpointOfPath("account", path.webhook)
          yield* endpoints.remove(id)
          return { data: { uuid: id, deleted: true as const } }
        }).pipe(Effect.catchTags(noWebhook))
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
        }).pipe(Effect.catchTags({ ...noDelivery, ...busy, ...inactive }))
      )
  })
)
