import { Schema } from "effect"
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
  priceMicros: Schema.OptionFromNullOr(Schema.Int),
  currency: Schema.OptionFromNullOr(Schema.String)
}) {}
