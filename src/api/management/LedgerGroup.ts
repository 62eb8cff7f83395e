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
import { SubscriberSubscription, subscriptionExample } from "./Subscriber.ts"

export const Subscription = Schema.Struct({
  ...SubscriberSubscription.fields,
  product_identifier: Schema.String,
  app_user_id: Schema.String
}).annotations({
  identifier: "Subscription",
  examples: [
    {
      ...subscriptionExample,
      product_identifier: "pro.monthly",
      app_user_id: "ann"
    }
  ]
})

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
  refunded_at: Schema.NullOr(Timestamp).annotations({ description: "When all of it was refunded" }),
  refunded_amount: Schema.NullOr(Schema.Number).annotations({
    description: "How much of `price` was refunded: all of it, or a part; null without a refund or a known price"
  }),
  price: Schema.NullOr(Schema.Number).annotations({ description: "In major units of `currency`", examples: [9.99] }),
  currency: Schema.NullOr(Schema.String)
}).annotations({
  identifier: "Transaction",
  examples: [
    {
      uuid: "019a9a48-33c8-7b9a-a1d4-0c8e5f2b7d68",
      app_user_id: "ann",
      subscription_uuid: "019a9a47-33c8-7b9a-a1d4-0c8e5f2b7d67",
      store: "store_a",
      environment: "production",
      store_transaction_id: "2000000123456789",
      original_transaction_id: "2000000123456789",
      product_identifier: "pro.monthly",
      period_type: "normal",
      ownership_type: "purchased",
      purchase_date: "2026-03-02T08:00:00.000Z",
      expires_date: "2026-04-02T08:00:00.000Z",
      refunded_at: null,
      refunded_amount: null,
      price: 9.99,
      currency: "USD"
    }
  ]
})

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
      .annotate(OpenApi.Summary, "List transactions, newest purchase first")
  )
  .middleware(AccessTokenAuth) {}
