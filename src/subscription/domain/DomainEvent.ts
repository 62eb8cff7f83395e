import { DateTime, Option, Schema } from "effect"
import { StoreName } from "../../catalog/domain/Product.ts"
import { Environment } from "../../store/domain/PurchaseFact.ts"
import { AppUserId } from "./Customer.ts"
import { SubscriptionId } from "./Subscription.ts"

/** Every domain event (contract, part 3, "Domain events, outbound"). */
export const DomainEventType = Schema.Literal(
  "customer.created",
  "customer.transferred",
  "customer.identified",
  "customer.deleted",
  "subscription.started",
  "subscription.trial_started",
  "subscription.trial_converted",
  "subscription.renewed",
  "subscription.canceled",
  "subscription.uncanceled",
  "subscription.product_changed",
  "subscription.grace_period_started",
  "subscription.billing_issue",
  "subscription.recovered",
  "subscription.on_hold",
  "subscription.pause_scheduled",
  "subscription.paused",
  "subscription.resumed",
  "subscription.extended",
  "subscription.expired",
  "subscription.refunded",
  "subscription.refund_reversed",
  "subscription.revoked",
  "subscription.price_change",
  "purchase.completed",
  "purchase.refunded",
  "entitlement.granted",
  "entitlement.revoked",
  "app.key_rotated",
  "webhook.test"
)
export type DomainEventType = typeof DomainEventType.Type

const families = ["customer.*", "subscription.*", "purchase.*", "entitlement.*", "app.*", "webhook.*"] as const

/** What a webhook endpoint may subscribe to: an event, a family of events, or all. */
export const DomainEventFilter = Schema.Literal("*", ...families, ...DomainEventType.literals)

export const DomainEventId = Schema.UUID.pipe(Schema.brand("DomainEventId"))
export type DomainEventId = typeof DomainEventId.Type

/** One event per change, written in the transaction that made the change. `data` is in wire form. */
export class DomainEvent extends Schema.Class<DomainEvent>("DomainEvent")({
  id: DomainEventId,
  type: DomainEventType,
  appUserId: Schema.OptionFromNullOr(AppUserId),
  store: Schema.OptionFromNullOr(StoreName),
  environment: Schema.OptionFromNullOr(Environment),
  subscriptionId: Schema.OptionFromNullOr(SubscriptionId),
  data: Schema.Unknown,
  createdAt: Schema.DateTimeUtcFromDate
}) {}

/** The item of lists and of deliveries, as it goes over the wire. */
export const eventItem = (event: DomainEvent) => ({
  uuid: event.id,
  type: event.type,
  app_user_id: Option.getOrNull(event.appUserId),
  store: Option.getOrNull(event.store),
  environment: Option.getOrNull(event.environment),
  subscription_uuid: Option.getOrNull(event.subscriptionId),
  data: event.data,
  created_at: DateTime.formatIso(event.createdAt)
})
