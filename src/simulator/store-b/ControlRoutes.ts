import { Effect, Schema } from "effect"
import { act, ControlRefused, type ControlRoute, look } from "../Control.ts"
import { Period } from "../Timescale.ts"
import type { Books, Replacement } from "./Books.ts"
import type { Deed, Plain } from "./Deed.ts"
import { shown } from "./Purchase.ts"
import { NewPurchase } from "./Terms.ts"

const Nothing = Schema.Struct({})

const lasting = (fallback: string) => Schema.Struct({ for: Schema.optionalWith(Period, { default: () => fallback }) })

const NewPlan = Schema.Struct({
  product_id: Schema.NonEmptyString,
  base_plan_id: Schema.optional(Schema.NonEmptyString),
  price: Schema.optional(Schema.Number.pipe(Schema.between(0, 1e9))),
  period: Schema.optional(Period)
})

const planOf = ({ base_plan_id, period, price, product_id }: Partial<typeof NewPlan.Type>) => ({
  ...(product_id === undefined ? {} : { product_id, ...(base_plan_id === undefined ? {} : { base_plan_id }) }),
  ...(price === undefined ? {} : { price }),
  ...(period === undefined ? {} : { period })
})

/** What a control call may do to a purchase of store B. */
export const purchaseRoutes = (books: Books, wake: Effect.Effect<unknown>): ReadonlyArray<ControlRoute> => {
  const deed = <A, I>(
    name: string,
    does: string,
    schema: Schema.Schema<A, I>,
    what: (input: A) => Deed
  ): ControlRoute =>
    act("POST", `/purchases/:token/${name}`, does, schema, (input, { token }) =>
      Effect.zipLeft(books.deed(token ?? "", what(input)), wake)
    )

  const plain = (name: string, does: string, _tag: Plain) => deed(name, does, Nothing, () => ({ _tag }))

  const replaced = <A extends Partial<typeof NewPlan.Type>, I>(
    name: string,
    does: string,
    schema: Schema.Schema<A, I>,
    how: (input: A) => Replacement
  ): ControlRoute =>
    act("POST", `/purchases/:token/${name}`, does, schema, (input, { token }) =>
      Effect.zipLeft(books.replace(token ?? "", how(input), planOf(input)), wake)
    )

  return [
    act(
      "POST",
      "/purchases",
      "Buys: a subscription, on an offer or not, or a thing that is bought once",
      NewPurchase,
      (terms) => Effect.zipLeft(books.buy(terms), wake)
    ),
    look("GET", "/purchases", "Every purchase as it is now", () =>
      Effect.sync(() => [...books.purchases.values()].map(shown))
    ),
    look("GET", "/purchases/:token", "One purchase", ({ token }) =>
      Effect.flatMap(books.find(token ?? ""), (known) =>
        known === undefined
          ? new ControlRefused({ status: 404, message: "No such purchase." })
          : Effect.succeed(shown(known.purchase))
      )
    ),
    plain("complete", "The first payment comes in", "complete"),
    plain("cancel-pending", "The first payment never comes", "cancelPending"),
    plain("renew", "Renews now what renews later", "renew"),
    plain("recover", "The charge that failed succeeds", "recover"),
    deed(
      "payment",
      "Whether charges succeed from now on; working again, they collect at once what failed",
      Schema.Struct({ works: Schema.Boolean }),
      ({ works }) => ({ _tag: "setPayment", works })
    ),
    deed("grace", "A charge fails now, access goes on", lasting("P7D"), (input) => ({
      _tag: "grace",
      length: input.for
    })),
    plain("hold", "A charge fails now, or grace ends: no access", "hold"),
    deed(
      "cancel",
      "Switches renewal off",
      Schema.Struct({
        by: Schema.optionalWith(Schema.Literal("user", "system", "developer"), { default: () => "user" as const })
      }),
      ({ by }) => ({ _tag: "cancel", by })
    ),
    plain("restart", "Switches renewal on again before the end", "restart"),
    deed("plan-pause", "Pauses when the period ends, for so long", lasting("P1M"), (input) => ({
      _tag: "planPause",
      length: input.for
    })),
    deed("unplan-pause", "Takes a planned pause back", Nothing, () => ({ _tag: "planPause", length: undefined })),
    deed("pause", "Pauses now, and resumes by itself", lasting("P1M"), (input) => ({
      _tag: "pause",
      length: input.for
    })),
    plain("resume", "Ends a pause now", "resume"),
    deed("defer", "Moves the renewal out", lasting("P7D"), (input) => ({ _tag: "defer", length: input.for })),
    deed(
      "change-price",
      "A new price from the next period on; an increase awaits the customer's word",
      Schema.Struct({
        price: Schema.Number.pipe(Schema.between(0, 1e9)),
        mode: Schema.optionalWith(Schema.Literal("PRICE_INCREASE", "OPT_OUT_PRICE_INCREASE", "PRICE_DECREASE"), {
          default: () => "PRICE_INCREASE" as const
        })
      }),
      ({ mode, price }) => ({ _tag: "changePrice", price, mode })
    ),
    plain("confirm-price", "The customer agrees to the new price; silence ends the subscription", "confirmPrice"),
    replaced(
      "upgrade",
      "Another plan at once, by a new purchase that is linked to this one",
      NewPlan,
      () => "immediate"
    ),
    replaced(
      "change-plan",
      "Another plan, at once or when the period ends, by a new purchase that is linked to this one",
      Schema.Struct({
        ...NewPlan.fields,
        mode: Schema.optionalWith(Schema.Literal("immediate", "deferred"), { default: () => "immediate" as const })
      }),
      ({ mode }) => mode
    ),
    replaced(
      "top-up",
      "More time of a prepaid plan, by a new purchase that is linked to this one",
      Nothing,
      () => "top_up"
    ),
    replaced(
      "resubscribe",
      "Buys again: linked to this one while it runs, out of the app's sight when it is over",
      Nothing,
      () => "resubscribe"
    ),
    plain("revoke", "Ends it now, as a developer who refunds does", "revoke"),
    plain("expire", "Ends it now", "expire"),
    deed(
      "refund",
      "Takes the running order back, all of it or so many of a quantity; the list of voided purchases has it",
      Schema.Struct({
        quantity: Schema.optional(Schema.Int.pipe(Schema.positive())),
        reason: Schema.optionalWith(Schema.Int.pipe(Schema.between(0, 8)), { default: () => 1 }),
        source: Schema.optionalWith(Schema.Literal(0, 1, 2), { default: () => 0 as const })
      }),
      ({ quantity, reason, source }) => ({ _tag: "refund", quantity, reason, source })
    ),
    act(
      "POST",
      "/test-notification",
      "Pushes without a change",
      Schema.Struct({ package_name: Schema.NonEmptyString, notification_url: Schema.optional(Schema.String) }),
      ({ notification_url, package_name }) => books.test(package_name, notification_url)
    )
  ]
}
