import { Schema } from "effect"
import { StoreName } from "../../catalog/domain/Product.ts"
import { Environment, OwnershipType, PeriodType } from "../../store/domain/PurchaseFact.ts"

export const SubscriptionId = Schema.UUID.pipe(Schema.brand("SubscriptionId"))
export type SubscriptionId = typeof SubscriptionId.Type

/** Subscription management, part 3; meanings in the contract, part 3, "Subscription states". */
export const SubscriptionStatus = Schema.Literal(
  "active",
  "trialing",
  "in_grace_period",
  "on_hold",
  "paused",
  "canceled",
  "expired",
  "revoked",
  "in_billing_retry",
  "paused_pending",
  "unknown"
)
export type SubscriptionStatus = typeof SubscriptionStatus.Type

const Moment = Schema.OptionFromNullOr(Schema.DateTimeUtc)

/** All that is known of one purchase chain: the fold of the store's statements about it. Money is integer micros. */
export class Subscription extends Schema.Class<Subscription>("Subscription")({
  store: StoreName,
  environment: Environment,
  originalTransactionId: Schema.String,
  storeTransactionId: Schema.String,
  productIdentifier: Schema.String,
  status: SubscriptionStatus,
  periodType: PeriodType,
  ownershipType: OwnershipType,
  purchaseDate: Schema.DateTimeUtc,
  originalPurchaseDate: Schema.DateTimeUtc,
  expiresDate: Moment,
  gracePeriodExpiresDate: Moment,
  unsubscribeDetectedAt: Moment,
  billingIssuesDetectedAt: Moment,
  refundedAt: Moment,
  autoResumeDate: Moment,
  willRenew: Schema.Boolean,
  pendingProductIdentifier: Schema.OptionFromNullOr(Schema.String),
  priceMicros: Schema.OptionFromNullOr(Schema.Int),
  currency: Schema.OptionFromNullOr(Schema.String)
}) {
  /** Ended by itself or by the store; a new period after this is a new start. */
  get hasEnded(): boolean {
    return this.status === "expired" || this.status === "revoked"
  }
}
