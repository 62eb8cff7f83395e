import { DateTime, Effect, Option, Schema } from "effect"
import { Conflict, Invalid, NotFound } from "../api/Problem.ts"
import { stateAt } from "./domain/Circuit.ts"
import type { Endpoint } from "./domain/Endpoint.ts"
import { EndpointId, type OwnerKind } from "./domain/Webhook.ts"
import { EndpointNotFound, Endpoints } from "./Endpoints.ts"

/** The endpoint that a path names, when it is one of that side: an app's webhook is no webhook of an account. */
export const endpointOfPath = Effect.fn("endpointOfPath")(function* (kind: OwnerKind, text: string) {
  const endpoints = yield* Endpoints
  const id = yield* Effect.mapError(Schema.decodeUnknown(EndpointId)(text.toLowerCase()), () => new EndpointNotFound())
  const endpoint = yield* endpoints.byId(id)
  return endpoint.ownerKind === kind ? endpoint : yield* new EndpointNotFound()
})

interface NewWebhook {
  readonly url: string
  readonly events: ReadonlyArray<string>
  readonly retry_count: number
  readonly timeout_seconds: number
  readonly max_per_second: number | null
  readonly ordered: boolean
}

/** The fields of a payload as the service takes them; what is absent stays absent. */
export const endpointFields = (payload: NewWebhook) => ({
  url: payload.url,
  events: payload.events,
  retryCount: payload.retry_count,
  timeoutSeconds: payload.timeout_seconds,
  maxPerSecond: Option.fromNullable(payload.max_per_second),
  isOrdered: payload.ordered
})

export const endpointChanges = (payload: Partial<NewWebhook> & { readonly is_active?: boolean }) => ({
  url: payload.url,
  events: payload.events,
  retryCount: payload.retry_count,
  timeoutSeconds: payload.timeout_seconds,
  maxPerSecond: payload.max_per_second,
  isOrdered: payload.ordered,
  isActive: payload.is_active
})

/** What a webhook is and how it does, on either side. */
export const endpointView = (endpoint: Endpoint, now: DateTime.Utc) => ({
  url: endpoint.url,
  events: endpoint.events,
  retry_count: endpoint.retryCount,
  timeout_seconds: endpoint.timeoutSeconds,
  max_per_second: Option.getOrNull(endpoint.maxPerSecond),
  ordered: endpoint.isOrdered,
  is_active: endpoint.isActive,
  disabled_reason: Option.getOrNull(endpoint.disabledReason),
  circuit: stateAt({ until: endpoint.pausedUntil }, now),
  paused_until: Option.getOrNull(
    Option.map(Option.filter(endpoint.pausedUntil, DateTime.greaterThan(now)), DateTime.formatIso)
  ),
  created_at: DateTime.formatIso(endpoint.createdAt)
})

/** Sends a range again, and says how far it came. */
export const replayed = Effect.fn("replayed")(function* (
  endpoint: Endpoint,
  payload: {
    readonly from: DateTime.Utc
    readonly to: DateTime.Utc
    readonly events?: ReadonlyArray<string> | undefined
  }
) {
  const endpoints = yield* Endpoints
  const { from, to } = payload
  const range = { from, to, events: Option.fromNullable(payload.events) }
  const { count, next } = yield* endpoints.replay(endpoint, range)
  return { data: { replayed: count, continue_from: Option.getOrNull(Option.map(next, DateTime.formatIso)) } }
})

/** How the refusals of the services read on the wire, on both sides. */
export const noWebhook = { EndpointNotFound: () => new NotFound({ message: "No such webhook." }) }
export const noDelivery = { DeliveryNotFound: () => new NotFound({ message: "No such delivery." }) }
export const inactive = { EndpointInactive: () => new Conflict({ message: "The webhook is not active." }) }
export const busy = { DeliveryBusy: () => new Conflict({ message: "The delivery is being sent." }) }
export const badTarget = {
  TargetRefused: ({ reason }: { readonly reason: string }) =>
    new Invalid({ message: "The given data was invalid.", errors: { url: [reason] } })
}
