import { Schema } from "effect"
import { Period } from "../Timescale.ts"

const milliunits = Schema.NonNegativeInt.annotations({ description: "Thousandths of the currency: 9990 is 9.99" })

/** A price for the beginning: a trial, an introductory, promotional, code or win-back offer. */
export const Offer = Schema.Struct({
  kind: Schema.optionalWith(Schema.Literal("introductory", "promotional", "offer_code", "win_back"), {
    default: () => "introductory" as const
  }),
  discount: Schema.optionalWith(Schema.Literal("FREE_TRIAL", "PAY_AS_YOU_GO", "PAY_UP_FRONT"), {
    default: () => "FREE_TRIAL" as const
  }),
  identifier: Schema.optional(Schema.NonEmptyString),
  period: Schema.optional(Period),
  /** How many periods of `PAY_AS_YOU_GO` the offer's price holds. */
  periods: Schema.optionalWith(Schema.Int.pipe(Schema.between(1, 36)), { default: () => 1 }),
  price: Schema.optionalWith(milliunits, { default: () => 0 })
})
export type Offer = typeof Offer.Type

export const ProductType = Schema.Literal(
  "Auto-Renewable Subscription",
  "Non-Renewing Subscription",
  "Non-Consumable",
  "Consumable"
)

/** What a control call says about a new purchase. `price` is in milliunits, as the store counts. */
export const NewPurchase = Schema.Struct({
  bundle_id: Schema.NonEmptyString,
  product_id: Schema.NonEmptyString,
  app_account_token: Schema.optional(Schema.String),
  price: Schema.optionalWith(milliunits, { default: () => 9990 }),
  currency: Schema.optionalWith(Schema.String, { default: () => "USD" }),
  period: Schema.optionalWith(Period, { default: () => "P1M" }),
  period_seconds: Schema.optional(
    Schema.Positive.annotations({ description: "Takes the place of period: real seconds, at any pace of the clock" })
  ),
  /** All but the first are bought once and never renew. */
  type: Schema.optionalWith(ProductType, { default: () => "Auto-Renewable Subscription" as const }),
  quantity: Schema.optionalWith(Schema.Int.pipe(Schema.between(1, 10)), { default: () => 1 }),
  trial: Schema.optionalWith(Schema.Boolean, { default: () => false }),
  trial_period: Schema.optional(Period),
  offer: Schema.optional(Offer),
  payment_works: Schema.optionalWith(Schema.Boolean, { default: () => true }),
  grace_period: Schema.optional(
    Period.annotations({ description: "How long service goes on after a failed renewal; none if absent" })
  ),
  group: Schema.optionalWith(Schema.NonEmptyString, { default: () => "simulated" }),
  environment: Schema.optionalWith(Schema.Literal("Production", "Sandbox"), { default: () => "Production" as const }),
  app_apple_id: Schema.optionalWith(Schema.Int, { default: () => 1_000_000_001 }),
  notification_url: Schema.optional(Schema.String),
  seconds_per_month: Schema.optional(
    Schema.Number.pipe(Schema.between(0.1, 1e8)).annotations({ description: "A pace of its own for this purchase" })
  )
})
export type NewPurchase = typeof NewPurchase.Type
