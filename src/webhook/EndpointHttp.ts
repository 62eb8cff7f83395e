import { Effect, Schema } from "effect"
import { Conflict, Invalid, NotFound } from "../api/Problem.ts"
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
}

/** The fields of a payload as the service takes them; what is absent stays absent. */
export const endpointFields = (payload: NewWebhook) => ({
  url: payload.url,
  events: payload.events,
  retryCount: payload.retry_count,
  timeoutSeconds: payload.timeout_seconds
})

export const endpointChanges = (payload: Partial<NewWebhook> & { readonly is_active?: boolean }) => ({
  url: payload.url,
  events: payload.events,
  retryCount: payload.retry_count,
  timeoutSeconds: payload.timeout_seconds,
  isActive: payload.is_active
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
