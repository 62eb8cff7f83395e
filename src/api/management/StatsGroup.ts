import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { DateTime, Option, Schema } from "effect"
import { StoreName } from "../../catalog/domain/Product.ts"
import { Environment } from "../../store/domain/PurchaseFact.ts"
import { data, fields } from "../Envelope.ts"
import { Invalid, NotFound } from "../Problem.ts"
import { AccessTokenAuth, requires } from "../Security.ts"
import { appPath } from "./AppsGroup.ts"

const dayShape = /^\d{4}-\d{2}-\d{2}$/
const wrongDay = { message: () => "must be a day such as 2026-11-01, or an ISO 8601 time in UTC" }

/** `2026-02-30` would be taken for a day of March. */
const isOnCalendar = (text: string): boolean =>
  Option.exists(DateTime.make(dayShape.test(text) ? `${text}T00:00:00.000Z` : text), (moment) =>
    DateTime.formatIso(moment).startsWith(text.slice(0, 10))
  )

/** A UTC day; of a time only its day counts. */
const day = (description: string) =>
  Schema.optional(
    Schema.compose(
      Schema.String.pipe(
        Schema.pattern(/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?Z)?$/, wrongDay),
        Schema.filter(isOnCalendar, wrongDay)
      ).annotations({ description, jsonSchema: { type: "string", format: "date", examples: ["2026-11-01"] } }),
      Schema.DateTimeUtc
    )
  )

const Amounts = Schema.Record({ key: Schema.String, value: Schema.Number }).annotations({
  identifier: "Amounts",
  description: "Decimal numbers in major units by ISO 4217 code; currencies are never added to each other",
  examples: [{ EUR: 129.87, USD: 449.55 }]
})

const count = (description: string) => Schema.Int.annotations({ description })
const rate = (description: string) => Schema.NullOr(Schema.Number).annotations({ description })
const amounts = (description: string) => Amounts.annotations({ description })

const money = {
  mrr: amounts(
    "Monthly recurring revenue at the end of the range: the prices of the active subscriptions, each brought to a month " +
      "(a week counts 4 times, a year a twelfth), gross"
  ),
  revenue: amounts(
    "Paid in the range, subscriptions and one-time purchases, gross of taxes and commission, less refunds of those same " +
      "payments whenever they came"
  ),
  refunds: amounts("Of what was paid in the range, how much was refunded since, in whole or in part")
}

const ProductStats = Schema.Struct({
  store: StoreName,
  product_identifier: Schema.String,
  active_subscriptions: Schema.Int,
  active_trials: Schema.Int,
  mrr: Amounts,
  revenue: Amounts,
  refunds: Amounts
}).annotations({
  identifier: "ProductStats",
  examples: [
    {
      store: "store_a",
      product_identifier: "pro.monthly",
      active_subscriptions: 45,
      active_trials: 3,
      mrr: { USD: 449.55 },
      revenue: { USD: 449.55 },
      refunds: { USD: 9.99 }
    }
  ]
})

export const Stats = Schema.Struct({
  customers: count("Known by the end of the range"),
  new_customers: count("First seen in the range"),
  active_subscriptions: count(
    "Paid and running at the end of the range: canceled ones until they expire, failing ones through grace, no trials"
  ),
  active_trials: count("Free trials running at the end of the range, whether they will renew or not"),
  in_grace_period: count("Payment failed, access goes on: now, whatever the range"),
  in_billing_retry: count("Payment failed, no access, the store goes on trying: now, whatever the range"),
  on_hold: count("Payment failed, no access, the store waits for the customer: now, whatever the range"),
  churned: count("Paid subscriptions that ended in the range, less those that came back in it; may be negative"),
  churn_rate: rate("`churned` in percent of the paid subscriptions at the start of the range; null if there were none"),
  trial_conversions: count(
    "Of the trials that began in the range, those whose next period is paid and not refunded, to this day"
  ),
  trial_conversion_rate: rate(
    "`trial_conversions` in percent of the trials begun in the range; null if there were none"
  ),
  ...money,
  by_product: Schema.Array(ProductStats).annotations({
    description: "Products with anything running or paid, by store and identifier"
  }),
  series: Schema.Struct({
    day: Schema.Array(Schema.String).annotations({ description: "Every UTC day of the range, `YYYY-MM-DD`" }),
    revenue: Schema.Array(Amounts).annotations({ description: "Of each day, as `revenue`" }),
    active_subscriptions: Schema.Array(Schema.Int).annotations({ description: "At the end of each day, or now" })
  })
}).annotations({
  identifier: "Stats",
  examples: [
    {
      customers: 1200,
      new_customers: 140,
      active_subscriptions: 58,
      active_trials: 9,
      in_grace_period: 1,
      in_billing_retry: 2,
      on_hold: 0,
      churned: 4,
      churn_rate: 7.14,
      trial_conversions: 12,
      trial_conversion_rate: 57.14,
      mrr: { EUR: 99.9, USD: 479.52 },
      revenue: { EUR: 9.99, USD: 29.97 },
      refunds: { USD: 9.99 },
      by_product: [
        {
          store: "store_a",
          product_identifier: "pro.monthly",
          active_subscriptions: 58,
          active_trials: 9,
          mrr: { EUR: 99.9, USD: 479.52 },
          revenue: { EUR: 9.99, USD: 29.97 },
          refunds: { USD: 9.99 }
        }
      ],
      series: {
        day: ["2026-11-20", "2026-11-21"],
        revenue: [{ USD: 29.97 }, { EUR: 9.99 }],
        active_subscriptions: [57, 58]
      }
    }
  ]
})

export class StatsGroup extends HttpApiGroup.make("stats")
  .add(
    HttpApiEndpoint.get("getStats")`/apps/${appPath}/stats`
      .setUrlParams(
        fields({
          from: day("First UTC day, included; 27 days before `to` unless given. Not in the future"),
          to: day("Last UTC day, included; today unless given. At most 400 days in all"),
          environment: Schema.optionalWith(Environment, { default: () => "production" as const }).annotations({
            description: "Sandbox purchases are counted apart and never into the figures of production"
          })
        })
      )
      .addSuccess(data(Stats))
      .addError(NotFound.wire)
      .addError(Invalid.wire)
      .annotateContext(requires("customers:read"))
      .annotate(OpenApi.Summary, "Show the figures of an app")
      .annotate(
        OpenApi.Description,
        "Computed from the ledger when asked, in whole UTC days. A refund is booked to the day of its payment, so figures " +
          "of past days change. Customers are counted once and have no environment; family-shared subscriptions count " +
          "nowhere. Where the last day is not over, its end is now."
      )
  )
  .middleware(AccessTokenAuth) {}
