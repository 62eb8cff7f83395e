import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { StoreName } from "../../catalog/domain/Product.ts"
import { Environment, OwnershipType, PeriodType } from "../../store/domain/PurchaseFact.ts"
import { AppUserId } from "../../subscription/domain/Customer.ts"
import { SubscriptionStatus } from "../../subscription/domain/Subscription.ts"
import { fields, list, Moment, Name, Timestamp } from "../Envelope.ts"
import { cursor, limit } from "../Page.ts"
import { BadRequest, Invalid, NotFound } from "../Problem.ts"
import { AccessTokenAuth, requires } from "../Security.ts"
import { appPath } from "./AppsGroup.ts"
import { SubscriberSubscription } from "./Subscriber.ts"

export const Subscription = Schema.Struct({
  ...SubscriberSubscription.fields,
  product_identifier: Schema.String,
  app_user_id: Schema.String
}).annotations({ identifier: "Subscription" })

export const Transaction = Schema.Struct({
  uuid: Schema.String,
  app_user_id: Schema.String,
  subscription_uuid: Schema.NullOr(Schema.String).annotations({ description: "Null for a one-time purchase" }),
  store: StoreName,
  environment: Environment,
  store_transaction_id: Schema.String,
  original_transaction_id: Schema.String,
  product_identifier: Schema.String,
  period_type: PeriodType,
  ownership_type: OwnershipType,
  purchase_date: Timestamp,
  expires_date: Schema.NullOr(Timestamp),
  refunded_at: Schema.NullOr(Timestamp),
  price: Schema.NullOr(Schema.Number).annotations({ description: "In major units of `currency`", examples: [9.99] }),
  currency: Schema.NullOr(Schema.String)
}).annotations({ identifier: "Transaction" })

const filters = {
  limit,
  cursor,
  store: Schema.optional(StoreName),
  product_identifier: Schema.optional(Name),
  environment: Schema.optional(Environment),
  app_user_id: Schema.optional(
    AppUserId.annotations({
      description: "Of the customer to whom this id leads, merged ones included"
    })
  )
}

export class LedgerGroup extends HttpApiGroup.make("ledger")
  .add(
    HttpApiEndpoint.get("listSubscriptions")`/apps/${appPath}/subscriptions`
      .setUrlParams(fields({ ...filters, status: Schema.optional(SubscriptionStatus) }))
      .addSuccess(list(Subscription))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("customers:read"))
      .annotate(OpenApi.Summary, "List subscriptions, newest first")
  )
  .add(
    HttpApiEndpoint.get("listTransactions")`/apps/${appPath}/transactions`
      .setUrlParams(
        fields({
          ...filters,
          from: Schema.optional(Moment.annotations({ description: "Earliest `purchase_date`, included" })),
          to: Schema.optional(Moment.annotations({ description: "Latest `purchase_date`, not included" }))
        })
      )
      .addSuccess(list(Transaction))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("customers:read"))
      .annotate(OpenApi.Summary, "List transactions, newest first by the time of recording")
  )
  .middleware(AccessTokenAuth) {}
