import { Schema } from "effect"
import { Environment, OwnershipType, PeriodType } from "../../store/domain/PurchaseFact.ts"
import { StoreName } from "../../catalog/domain/Product.ts"
import { Timestamp } from "../Envelope.ts"
import { SubscriptionStatus } from "../../subscription/domain/Subscription.ts"

const Moment = Schema.NullOr(Timestamp)

export const SubscriberEntitlement = Schema.Struct({
  is_active: Schema.Boolean.annotations({ description: "As of this answer, by the clock" }),
  product_identifier: Schema.NullOr(Schema.String).annotations({ description: "Null for a grant" }),
  store: StoreName.annotations({ description: "`custom` for a grant" }),
  purchase_date: Timestamp,
  original_purchase_date: Timestamp,
  expires_date: Moment.annotations({ description: "When access ends or ended; null: never" }),
  grace_period_expires_date: Moment,
  will_renew: Schema.Boolean,
  period_type: PeriodType,
  source: Schema.Literal("subscription", "purchase", "grant").annotations({
    description: "Of several sources the one that lasts longest"
  }),
  environment: Environment
})

/** A subscription as both sides of the API show it. */
export const subscriptionExample = {
  uuid: "019a9a47-33c8-7b9a-a1d4-0c8e5f2b7d67",
  store: "store_a",
  status: "active",
  is_active: true,
  period_type: "normal",
  purchase_date: "2026-03-02T08:00:00.000Z",
  original_purchase_date: "2026-03-02T08:00:00.000Z",
  expires_date: "2026-04-02T08:00:00.000Z",
  grace_period_expires_date: null,
  unsubscribe_detected_at: null,
  billing_issues_detected_at: null,
  refunded_at: null,
  auto_resume_date: null,
  will_renew: true,
  pending_product_identifier: null,
  price: 9.99,
  currency: "USD",
  environment: "production",
  ownership_type: "purchased",
  store_transaction_id: "2000000123456789",
  original_transaction_id: "2000000123456789"
} as const

export const SubscriberSubscription = Schema.Struct({
  uuid: Schema.String,
  store: StoreName,
  status: SubscriptionStatus,
  is_active: Schema.Boolean,
  period_type: PeriodType,
  purchase_date: Timestamp,
  original_purchase_date: Timestamp,
  expires_date: Moment,
  grace_period_expires_date: Moment,
  unsubscribe_detected_at: Moment,
  billing_issues_detected_at: Moment,
  refunded_at: Moment,
  auto_resume_date: Moment,
  will_renew: Schema.Boolean,
  pending_product_identifier: Schema.NullOr(Schema.String),
  price: Schema.NullOr(Schema.Number),
  currency: Schema.NullOr(Schema.String),
  environment: Environment,
  ownership_type: OwnershipType,
  store_transaction_id: Schema.String,
  original_transaction_id: Schema.String
})

const NonSubscription = Schema.Struct({
  uuid: Schema.String,
  store: StoreName,
  purchase_date: Timestamp,
  refunded_at: Moment,
  price: Schema.NullOr(Schema.Number),
  currency: Schema.NullOr(Schema.String),
  environment: Environment,
  store_transaction_id: Schema.String,
  original_transaction_id: Schema.String
})

/** A customer as its app sees it; both maps hold what once was, too. */
export const Subscriber = Schema.Struct({
  app_user_id: Schema.String,
  original_app_user_id: Schema.String.annotations({ description: "The id under which the person was seen first" }),
  is_anonymous: Schema.Boolean,
  first_seen: Timestamp,
  last_seen: Timestamp.annotations({ description: "Exact to 15 minutes" }),
  management_url: Schema.NullOr(Schema.String).annotations({
    description: "Where the person manages the subscription that lasts longest; null without one"
  }),
  entitlements: Schema.Record({ key: Schema.String, value: SubscriberEntitlement }).annotations({
    description: "By entitlement identifier"
  }),
  subscriptions: Schema.Record({ key: Schema.String, value: SubscriberSubscription }).annotations({
    description: "By product identifier"
  }),
  non_subscriptions: Schema.Record({ key: Schema.String, value: Schema.Array(NonSubscription) }).annotations({
    description: "One-time purchases by product identifier, oldest first"
  }),
  aliases: Schema.Array(Schema.String).annotations({
    description: "Other ids that lead to this customer, oldest first",
    examples: [["$anonymous:0199f3a2"]]
  })
}).annotations({
  identifier: "Subscriber",
  examples: [
    {
      app_user_id: "ann",
      original_app_user_id: "$anonymous:0199f3a2",
      is_anonymous: false,
      first_seen: "2026-03-02T08:00:00.000Z",
      last_seen: "2026-04-02T08:00:00.000Z",
      management_url: null,
      entitlements: {
        pro: {
          is_active: true,
          product_identifier: "pro.monthly",
          store: "store_a",
          purchase_date: "2026-03-02T08:00:00.000Z",
          original_purchase_date: "2026-03-02T08:00:00.000Z",
          expires_date: "2026-04-02T08:00:00.000Z",
          grace_period_expires_date: null,
          will_renew: true,
          period_type: "normal",
          source: "subscription",
          environment: "production"
        }
      },
      subscriptions: {
        "pro.monthly": subscriptionExample
      },
      non_subscriptions: {},
      aliases: ["$anonymous:0199f3a2"]
    }
  ]
})

/** The exception that the specification makes: no `data` around it. */
export const SubscriberAnswer = Schema.Struct({ subscriber: Subscriber })
