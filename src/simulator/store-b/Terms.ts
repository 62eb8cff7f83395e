import { Schema } from "effect"
import { Period } from "../Timescale.ts"

const flag = Schema.optionalWith(Schema.Boolean, { default: () => false })
const units = Schema.Number.pipe(Schema.between(0, 1e9)).annotations({ description: "In units of the currency: 9.99" })

/** A cheaper beginning: `free_trial` or `introductory`, for so many periods. */
export const Offer = Schema.Struct({
  kind: Schema.Literal("free_trial", "introductory"),
  offer_id: Schema.optional(Schema.NonEmptyString),
  period: Schema.optional(Period),
  periods: Schema.optionalWith(Schema.Int.pipe(Schema.between(1, 52)), { default: () => 1 }),
  price: Schema.optionalWith(units, { default: () => 0 })
})
export type Offer = typeof Offer.Type

/** What a control call says about a new purchase. `price` is in units of the currency. */
export const NewPurchase = Schema.Struct({
  package_name: Schema.NonEmptyString,
  product_id: Schema.NonEmptyString,
  base_plan_id: Schema.optional(Schema.NonEmptyString),
  one_time: flag,
  quantity: Schema.optionalWith(Schema.Int.pipe(Schema.between(1, 100)), { default: () => 1 }),
  obfuscated_account_id: Schema.optional(Schema.String),
  price: Schema.optionalWith(units, { default: () => 9.99 }),
  currency: Schema.optionalWith(Schema.String, { default: () => "USD" }),
  period: Schema.optionalWith(Period, { default: () => "P1M" }),
  period_seconds: Schema.optional(
    Schema.Positive.annotations({ description: "Takes the place of period: real seconds, at any pace of the clock" })
  ),
  prepaid: flag,
  trial: flag,
  trial_period: Schema.optional(Period),
  offer: Schema.optional(Offer),
  promotion_code: Schema.optional(Schema.NonEmptyString),
  payment_works: Schema.optionalWith(Schema.Boolean, { default: () => true }),
  grace_period: Schema.optional(
    Period.annotations({ description: "How long access goes on after a failed renewal; none if absent" })
  ),
  hold_period: Schema.optionalWith(Period, { default: () => "P30D" }),
  acknowledge_within: Schema.optionalWith(Period.annotations({ description: "After that it is refunded" }), {
    default: () => "P3D"
  }),
  pending: flag,
  test: flag,
  notification_url: Schema.optional(Schema.String),
  push_audience: Schema.optional(Schema.String),
  seconds_per_month: Schema.optional(
    Schema.Number.pipe(Schema.between(0.1, 1e8)).annotations({ description: "A pace of its own for this purchase" })
  )
})
export type NewPurchase = typeof NewPurchase.Type
