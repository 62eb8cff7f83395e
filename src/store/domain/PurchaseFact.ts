import { Option, Schema } from "effect"
import { ProductType, StoreName } from "../../catalog/domain/Product.ts"

export const Environment = Schema.Literal("production", "sandbox")
export type Environment = typeof Environment.Type

export const PeriodType = Schema.Literal("normal", "trial", "intro", "promotional")
export type PeriodType = typeof PeriodType.Type

export const OwnershipType = Schema.Literal("purchased", "family_shared")
export type OwnershipType = typeof OwnershipType.Type

/**
 * What happened, in words that both stores share. `observed` is a state read back without a
 * cause, `lapsed` what the clock says where no store can be asked.
 */
export const FactKind = Schema.Literal(
  "purchased",
  "renewed",
  "recovered",
  "renewal_failed",
  "grace_period_expired",
  "expired",
  "renewal_disabled",
  "renewal_enabled",
  "product_changed",
  "product_change_scheduled",
  "product_change_canceled",
  "price_change",
  "refunded",
  "refund_reversed",
  "revoked",
  "extended",
  "pause_schedule_changed",
  "observed",
  "lapsed"
)
export type FactKind = typeof FactKind.Type

/** How the store itself sees the subscription at the time of signing. */
export const StoreStatus = Schema.Literal(
  "active",
  "in_grace_period",
  "in_billing_retry",
  "on_hold",
  "paused",
  "paused_pending",
  "expired",
  "revoked",
  "unknown"
)
export type StoreStatus = typeof StoreStatus.Type

/** Whether a period was bought or followed by itself. */
export const PurchaseReason = Schema.Literal("purchase", "renewal")
export type PurchaseReason = typeof PurchaseReason.Type

/** Absent from statements that were kept before anybody asked for it. */
const later = <A, I>(schema: Schema.Schema<A, I>) =>
  Schema.optionalWith(schema, { as: "Option", nullable: true }).pipe(
    Schema.withConstructorDefault(() => Option.none<A>())
  )

/** One purchase of one period or item. Money is integer micros of `currency`. */
export class StoreTransaction extends Schema.Class<StoreTransaction>("StoreTransaction")({
  transactionId: Schema.NonEmptyString,
  productIdentifier: Schema.NonEmptyString,
  productType: ProductType,
  purchaseDate: Schema.DateTimeUtc,
  originalPurchaseDate: Schema.DateTimeUtc,
  expiresDate: Schema.OptionFromNullOr(Schema.DateTimeUtc),
  periodType: PeriodType,
  ownershipType: OwnershipType,
  priceMicros: Schema.OptionFromNullOr(Schema.Int),
  currency: Schema.OptionFromNullOr(Schema.String),
  refundedAt: Schema.OptionFromNullOr(Schema.DateTimeUtc),
  /** What went back of the price, where that was not all of it. */
  refundedMicros: later(Schema.Int),
  isUpgraded: Schema.Boolean,
  reason: later(PurchaseReason)
}) {}

/** What the store intends to do at the end of the period. */
export class RenewalIntent extends Schema.Class<RenewalIntent>("RenewalIntent")({
  willRenew: Schema.Boolean,
  nextProductIdentifier: Schema.OptionFromNullOr(Schema.String),
  gracePeriodExpiresDate: Schema.OptionFromNullOr(Schema.DateTimeUtc),
  /** When a pause ends by itself. */
  autoResumeDate: later(Schema.DateTimeUtc)
}) {}

/**
 * A store's signed statement about one purchase, in neutral words. Both drivers map into it; the lifecycle knows nothing
 * else. `factId` is the store's own unique id of the statement, `signedAt` orders statements (reference rule: an older
 * fact never overwrites a newer one).
 */
export class PurchaseFact extends Schema.Class<PurchaseFact>("PurchaseFact")({
  factId: Schema.NonEmptyString,
  store: StoreName,
  environment: Environment,
  kind: FactKind,
  signedAt: Schema.DateTimeUtc,
  originalTransactionId: Schema.NonEmptyString,
  accountToken: Schema.OptionFromNullOr(Schema.String),
  status: StoreStatus,
  transaction: StoreTransaction,
  renewal: Schema.OptionFromNullOr(RenewalIntent)
}) {}
