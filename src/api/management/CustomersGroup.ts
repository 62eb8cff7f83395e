import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { StoreName } from "../../catalog/domain/Product.ts"
import { Environment, PeriodType } from "../../store/domain/PurchaseFact.ts"
import { AppUserId } from "../../subscription/domain/Customer.ts"
import { DomainEventType } from "../../subscription/domain/DomainEvent.ts"
import { SubscriptionStatus } from "../../subscription/domain/Subscription.ts"
import { fields, list, Timestamp } from "../Envelope.ts"
import { cursor, limit, PageQuery } from "../Page.ts"
import { BadRequest, Invalid, NotFound } from "../Problem.ts"
import { AccessTokenAuth, requires } from "../Security.ts"
import { appPath } from "./AppsGroup.ts"
import { SubscriberAnswer } from "./Subscriber.ts"

export const appUserPath = HttpApiSchema.param("appUserId", AppUserId)

export const Subscription = Schema.Struct({
  uuid: Schema.String,
  store: StoreName,
  product_identifier: Schema.String,
  status: SubscriptionStatus,
  is_active: Schema.Boolean,
  expires_date: Schema.NullOr(Timestamp),
  app_user_id: Schema.String,
  environment: Environment
}).annotations({ identifier: "Subscription" })

export const Transaction = Schema.Struct({
  uuid: Schema.String,
  app_user_id: Schema.String,
  subscription_uuid: Schema.NullOr(Schema.String),
  store: StoreName,
  environment: Environment,
  store_transaction_id: Schema.String,
  original_transaction_id: Schema.String,
  product_identifier: Schema.String,
  period_type: PeriodType,
  purchase_date: Timestamp,
  expires_date: Schema.NullOr(Timestamp),
  refunded_at: Schema.NullOr(Timestamp),
  price: Schema.NullOr(Schema.Number),
  currency: Schema.NullOr(Schema.String)
}).annotations({ identifier: "Transaction" })

export const DomainEvent = Schema.Struct({
  uuid: Schema.String,
  type: DomainEventType,
  app_user_id: Schema.NullOr(Schema.String),
  store: Schema.NullOr(StoreName),
  environment: Schema.NullOr(Environment),
  subscription_uuid: Schema.NullOr(Schema.String),
  data: Schema.Unknown,
  created_at: Timestamp
}).annotations({ identifier: "DomainEvent" })

export class CustomersGroup extends HttpApiGroup.make("customers")
  .add(
    HttpApiEndpoint.get("getCustomer")`/apps/${appPath}/customers/${appUserPath}`
      .addSuccess(SubscriberAnswer)
      .addError(NotFound.wire)
      .annotateContext(requires("customers:read"))
      .annotate(OpenApi.Summary, "Show a customer with entitlements and subscriptions")
  )
  .add(
    HttpApiEndpoint.get("listSubscriptions")`/apps/${appPath}/subscriptions`
      .setUrlParams(PageQuery)
      .addSuccess(list(Subscription))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .annotateContext(requires("customers:read"))
      .annotate(OpenApi.Summary, "List subscriptions")
  )
  .add(
    HttpApiEndpoint.get("listTransactions")`/apps/${appPath}/transactions`
      .setUrlParams(PageQuery)
      .addSuccess(list(Transaction))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .annotateContext(requires("customers:read"))
      .annotate(OpenApi.Summary, "List transactions")
  )
  .add(
    HttpApiEndpoint.get("listEvents")`/apps/${appPath}/events`
      .setUrlParams(
        fields({
          limit,
          cursor,
          type: Schema.optional(DomainEventType),
          app_user_id: Schema.optional(Schema.String)
        })
      )
      .addSuccess(list(DomainEvent))
      .addError(BadRequest.wire)
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("customers:read"))
      .annotate(OpenApi.Summary, "List domain events")
  )
  .middleware(AccessTokenAuth) {}
