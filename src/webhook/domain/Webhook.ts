import { Schema } from "effect"

export const EndpointId = Schema.UUID.pipe(Schema.brand("EndpointId"))
export type EndpointId = typeof EndpointId.Type

export const DeliveryId = Schema.UUID.pipe(Schema.brand("DeliveryId"))
export type DeliveryId = typeof DeliveryId.Type

/** Whose events an endpoint gets: an app of the subscription side, an account (channel) of the gateway. */
export const OwnerKind = Schema.Literal("app", "account")
export type OwnerKind = typeof OwnerKind.Type

export interface Owner {
  readonly kind: OwnerKind
  readonly id: string
}

/** `failed` waits for its next attempt; `exhausted` has none left; `canceled` lost its endpoint. */
export const DeliveryState = Schema.Literal("pending", "delivering", "failed", "succeeded", "exhausted", "canceled")
export type DeliveryState = typeof DeliveryState.Type
