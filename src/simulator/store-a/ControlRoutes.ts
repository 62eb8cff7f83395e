import { Effect, Schema } from "effect"
import { act, ControlRefused, type ControlRoute, look } from "../Control.ts"
import { Period } from "../Timescale.ts"
import type { Books } from "./Books.ts"
import type { Deed } from "./Deed.ts"
import { current, type Product, type Purchase, shown } from "./Purchase.ts"
import { NewPurchase, Offer } from "./Terms.ts"

const Nothing = Schema.Struct({})
const defaultGrace = "P16D"

const percent = Schema.optionalWith(Schema.Number.pipe(Schema.between(1, 100)), { default: () => 100 })

const NewProduct = Schema.Struct({
  product_id: Schema.NonEmptyString,
  price: Schema.optional(Schema.NonNegativeInt),
  period: Schema.optional(Period)
})

const productFrom = ({ next }: Purchase, { period, price, product_id }: typeof NewProduct.Type): Product => ({
  productId: product_id,
  price: price ?? next.price,
  length: period ?? next.length
})

const Ending = Schema.Literal("VOLUNTARY", "BILLING_RETRY", "PRICE_INCREASE", "PRODUCT_NOT_FOR_SALE")

/** What a control call may do to a purchase of store A. */
export const purchaseRoutes = (books: Books, wake: Effect.Effect<unknown>): ReadonlyArray<ControlRoute> => {
  const deed = <A, I>(
    name: string,
    does: string,
    schema: Schema.Schema<A, I>,
    what: (input: A, purchase: Purchase) => Deed
  ): ControlRoute =>
    act("POST", `/purchases/:id/${name}`, does, schema, (input, { id }) =>
      Effect.zipLeft(
        books.deed(id ?? "", (purchase) => what(input, purchase)),
        wake
      )
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
    look("GET", "/purchases/:id", "One purchase with all its periods", ({ id }) =>
      Effect.flatMap(books.find(id ?? ""), (purchase) =>
        purchase === undefined
          ? new ControlRefused({ status: 404, message: "No such purchase." })
          : Effect.succeed(shown(purchase))
      )
    ),
    deed("renew", "Renews now what renews later, or collects what failed", Nothing, () => ({ _tag: "renew" })),
    deed("cancel", "Switches renewal off", Nothing, () => ({ _tag: "cancel" })),
    deed("uncancel", "Switches renewal on again", Nothing, () => ({ _tag: "uncancel" })),
    deed(
      "payment",
      "Whether charges succeed from now on; working again, they collect at once what failed",
      Schema.Struct({ works: Schema.Boolean }),
      ({ works }) => ({ _tag: "setPayment", works })
    ),
    deed(
      "fail-billing",
      "A charge fails now, with grace or without",
      Schema.Struct({ grace: Schema.optional(Schema.Boolean) }),
      ({ grace }, { terms }) => ({
        _tag: "failBilling",
        grace: grace === true ? (terms.grace_period ?? defaultGrace) : undefined
      })
    ),
    deed("expire", "Ends it now", Schema.Struct({ reason: Schema.optional(Ending) }), ({ reason }) => ({
      _tag: "expire",
      reason
    })),
    deed(
      "refund",
      "Takes a transaction back, by default the running one, all of it or a part",
      Schema.Struct({
        transaction_id: Schema.optional(Schema.NonEmptyString),
        percent,
        reason: Schema.optionalWith(Schema.Literal(0, 1), { default: () => 0 as const })
      }),
      (input) => ({ _tag: "refund", transactionId: input.transaction_id, percent: input.percent, reason: input.reason })
    ),
    deed(
      "reverse-refund",
      "Undoes a refund, by default the last",
      Schema.Struct({ transaction_id: Schema.optional(Schema.NonEmptyString) }),
      ({ transaction_id }) => ({ _tag: "reverseRefund", transactionId: transaction_id })
    ),
    deed("request-refund", "The customer asks for a refund, the store for what was used", Nothing, () => ({
      _tag: "requestRefund"
    })),
    deed("decline-refund", "The store says no to a refund", Nothing, () => ({ _tag: "declineRefund" })),
    deed(
      "change-product",
      "Another product of the group: an upgrade at once, a downgrade at the next renewal, a crossgrade by its length",
      Schema.Struct({
        ...NewProduct.fields,
        mode: Schema.optionalWith(Schema.Literal("upgrade", "downgrade", "crossgrade"), {
          default: () => "upgrade" as const
        })
      }),
      ({ mode, ...product }, purchase) => ({ _tag: "change", mode, product: productFrom(purchase, product) })
    ),
    deed("cancel-change", "Takes a planned change of product back", Nothing, () => ({ _tag: "cancelChange" })),
    deed("redeem-offer", "An offer for the next period, or for coming back", Offer, (offer) => ({
      _tag: "redeem",
      offer
    })),
    deed(
      "raise-price",
      "A new price from the next period on, with or without the customer's consent",
      Schema.Struct({
        price: Schema.NonNegativeInt,
        needs_consent: Schema.optionalWith(Schema.Boolean, { default: () => true })
      }),
      ({ needs_consent, price }) => ({ _tag: "raisePrice", price, needsConsent: needs_consent })
    ),
    deed(
      "consent",
      "The customer's word on the new price; silence ends the subscription",
      Schema.Struct({ agrees: Schema.optionalWith(Schema.Boolean, { default: () => true }) }),
      ({ agrees }) => ({ _tag: "answerRise", agrees })
    ),
    deed("extend", "Moves the renewal out", Schema.Struct({ by: Period }), ({ by }) => ({
      _tag: "extend",
      length: by
    })),
    deed("withdraw", "The product is sold no more: the subscription ends with its period", Nothing, () => ({
      _tag: "withdraw"
    })),
    deed(
      "resubscribe",
      "Buys again after the end, the same product or another, on an offer or not",
      Schema.Struct({
        product_id: Schema.optional(Schema.NonEmptyString),
        price: Schema.optional(Schema.NonNegativeInt),
        period: Schema.optional(Period),
        offer: Schema.optional(Offer)
      }),
      ({ offer, product_id, ...product }, purchase) => ({
        _tag: "resubscribe",
        offer,
        product: productFrom(purchase, { ...product, product_id: product_id ?? current(purchase).productId })
      })
    ),
    act(
      "POST",
      "/purchases/:id/share",
      "Gives a family member the same, as a purchase of its own that follows this one",
      Schema.Struct({ app_account_token: Schema.optional(Schema.NonEmptyString) }),
      ({ app_account_token }, { id }) => Effect.zipLeft(books.share(id ?? "", app_account_token), wake)
    ),
    deed("revoke", "A family member loses access", Nothing, () => ({ _tag: "revoke" }))
  ]
}
