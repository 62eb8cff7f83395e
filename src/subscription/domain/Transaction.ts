import { DateTime, Option, Schema } from "effect"
import { fromMicros } from "../../catalog/domain/Money.ts"
import { StoreName } from "../../catalog/domain/Product.ts"
import { Environment, OwnershipType, PeriodType } from "../../store/domain/PurchaseFact.ts"
import { AppUserId } from "./Customer.ts"
import { SubscriptionId } from "./Subscription.ts"

/** One purchase in the ledger: unique by app, store, environment and the store's own id. Money is integer micros. */
export class Transaction extends Schema.Class<Transaction>("Transaction")({
  id: Schema.UUID,
  appUserId: AppUserId,
  subscriptionId: Schema.OptionFromNullOr(SubscriptionId),
  store: StoreName,
  environment: Environment,
  storeTransactionId: Schema.String,
  originalTransactionId: Schema.String,
  productIdentifier: Schema.String,
  periodType: PeriodType,
  ownershipType: OwnershipType,
  purchaseDate: Schema.DateTimeUtcFromDate,
  expiresDate: Schema.OptionFromNullOr(Schema.DateTimeUtcFromDate),
  refundedAt: Schema.OptionFromNullOr(Schema.DateTimeUtcFromDate),
  /** The part of the price that went back, where that was not all of it. */
  refundedMicros: Schema.OptionFromNullOr(Schema.Int),
  priceMicros: Schema.OptionFromNullOr(Schema.Int),
  currency: Schema.OptionFromNullOr(Schema.String)
}) {}

/** As it goes over the wire. */
export const momentOrNull = (moment: Option.Option<DateTime.Utc>) =>
  Option.getOrNull(Option.map(moment, DateTime.formatIso))

export const amountOrNull = (micros: Option.Option<number>) => Option.getOrNull(Option.map(micros, fromMicros))

/** What went back, in major units: a part of the price, or all of it. */
export const refundedAmount = ({
  priceMicros,
  refundedAt,
  refundedMicros
}: {
  readonly [Field in "priceMicros" | "refundedMicros"]: Option.Option<number>
} & { readonly refundedAt: Option.Option<unknown> }) =>
  amountOrNull(Option.orElse(refundedMicros, () => Option.zipRight(refundedAt, priceMicros)))

/** The item of lists, as it goes over the wire. */
export const transactionItem = (transaction: Transaction) => ({
  uuid: transaction.id,
  app_user_id: transaction.appUserId,
  subscription_uuid: Option.getOrNull(transaction.subscriptionId),
  store: transaction.store,
  environment: transaction.environment,
  store_transaction_id: transaction.storeTransactionId,
  original_transaction_id: transaction.originalTransactionId,
  product_identifier: transaction.productIdentifier,
  period_type: transaction.periodType,
  ownership_type: transaction.ownershipType,
  purchase_date: DateTime.formatIso(transaction.purchaseDate),
  expires_date: momentOrNull(transaction.expiresDate),
  refunded_at: momentOrNull(transaction.refundedAt),
  refunded_amount: refundedAmount(transaction),
  price: amountOrNull(transaction.priceMicros),
  currency: Option.getOrNull(transaction.currency)
})
