import { Either } from "effect"
import { after, type Length } from "../Timescale.ts"
import { canceled, completed, expired, inGrace, nextPeriod, onHold, paused, revoked, voided } from "./Life.ts"
import {
  type CanceledBy,
  type Decision,
  type Moment,
  orderOf,
  type Outcome,
  type PriceChange,
  type Purchase,
  silent,
  told,
  toldOnce
} from "./Purchase.ts"

/** What needs no more words. */
export type Plain =
  | "complete"
  | "cancelPending"
  | "renew"
  | "recover"
  | "restart"
  | "hold"
  | "resume"
  | "revoke"
  | "expire"
  | "confirmPrice"
  | "acknowledge"
  | "consume"

/** What a customer, a bank, a developer or the store itself does to a purchase. */
export type Deed =
  | { readonly _tag: Plain }
  | { readonly _tag: "cancel"; readonly by: CanceledBy }
  | { readonly _tag: "setPayment"; readonly works: boolean }
  | { readonly _tag: "grace" | "pause" | "defer"; readonly length: Length }
  | { readonly _tag: "planPause"; readonly length: Length | undefined }
  | { readonly _tag: "changePrice"; readonly price: number; readonly mode: PriceChange["mode"] }
  | {
      readonly _tag: "refund"
      readonly quantity: number | undefined
      readonly reason: number
      readonly source: 0 | 1 | 2
    }

const impossible = (reason: string): Decision => Either.left({ reason })
const done = (outcome: Outcome): Decision => Either.right(outcome)

const isPaid = ({ state }: Purchase): boolean => state !== "PENDING" && state !== "PENDING_PURCHASE_CANCELED"

const isRunning = ({ state }: Purchase): boolean =>
  state !== "EXPIRED" && state !== "CANCELLED" && state !== "PENDING" && state !== "PENDING_PURCHASE_CANCELED"

const refunded = (purchase: Purchase, deed: Extract<Deed, { _tag: "refund" }>, now: number): Decision => {
  const { quantity, reason, source } = deed
  if (!isPaid(purchase)) return impossible("nothing was paid")
  if (purchase.state === "CANCELLED") return impossible("the purchase was taken back already")
  const left = purchase.terms.quantity - purchase.refundedQuantity
  if (quantity === undefined || quantity >= left) return done(voided(purchase, { source, reason }, now))
  if (!purchase.terms.one_time)
    return impossible("of a subscription all is refunded: quantities are of one-time products")
  const orderId = orderOf(purchase)
  const part = { ...purchase, refundedQuantity: purchase.refundedQuantity + quantity }
  return done({
    purchase: part,
    notices: [{ word: { _tag: "voided", orderId, refundType: 2 }, at: now, purchase: part }],
    voided: [{ orderId, at: now, quantity, source, reason }]
  })
}

const settled = (purchase: Purchase, moment: Moment): Decision => {
  const start = purchase.state === "IN_GRACE_PERIOD" ? purchase.expiryTime : moment.now
  const running = nextPeriod(purchase, Math.max(start, moment.now), moment)
  return done(told(running, purchase.state === "ON_HOLD" ? "RECOVERED" : "RENEWED", moment.now))
}

const ofSubscriptions = (purchase: Purchase, deed: Deed, moment: Moment): Decision => {
  const { now } = moment
  const { state } = purchase
  const isActive = state === "ACTIVE"
  const hasFailed = state === "IN_GRACE_PERIOD" || state === "ON_HOLD"
  switch (deed._tag) {
    case "renew":
      return isActive && purchase.autoRenew
        ? done(told(nextPeriod(purchase, purchase.expiryTime, moment), "RENEWED", now))
        : impossible("only an active subscription that renews is renewed: recover, resume or restart")
    case "recover":
      return hasFailed
        ? done(told(nextPeriod(purchase, Math.max(now, purchase.expiryTime), moment), "RECOVERED", now))
        : impossible("no payment has failed")
    case "setPayment":
      return deed.works && hasFailed
        ? settled(purchase, moment)
        : done(silent({ ...purchase, paymentWorks: deed.works }))
    case "cancel":
      return isRunning(purchase) && state !== "CANCELED"
        ? done(canceled(purchase, deed.by, now))
        : impossible("only what runs and renews is canceled")
    case "restart":
      return state === "CANCELED"
        ? done(told({ ...purchase, state: "ACTIVE", autoRenew: true, canceled: undefined }, "RESTARTED", now))
        : impossible("only what is canceled and not over is restarted")
    case "grace":
      return isActive
        ? done(inGrace(purchase, deed.length, moment))
        : impossible("only an active subscription is charged")
    case "hold":
      return isActive || state === "IN_GRACE_PERIOD"
        ? done(onHold(purchase, moment))
        : impossible("only an active subscription, or one in grace, is held")
    case "planPause":
      return isActive
        ? done(told({ ...purchase, plannedPause: deed.length }, "PAUSE_SCHEDULE_CHANGED", now))
        : impossible("only an active subscription pauses")
    case "pause":
      return isActive ? done(paused(purchase, deed.length, moment)) : impossible("only an active subscription pauses")
    case "resume":
      return state === "PAUSED"
        ? done(told(nextPeriod(purchase, now, moment), "RECOVERED", now))
        : impossible("it is not paused")
    case "defer":
      return isActive
        ? done(
            told({ ...purchase, expiryTime: after(purchase.expiryTime, deed.length, moment.scale) }, "DEFERRED", now)
          )
        : impossible("only an active subscription is deferred")
    case "changePrice": {
      if (!isActive) return impossible("only an active subscription gets a new price")
      const needsWord = deed.mode === "PRICE_INCREASE"
      const priceChange = {
        price: deed.price,
        mode: deed.mode,
        state: needsWord ? "OUTSTANDING" : "CONFIRMED"
      } as const
      return done(told({ ...purchase, priceChange }, "PRICE_CHANGE_UPDATED", now))
    }
    case "confirmPrice":
      return purchase.priceChange?.state === "OUTSTANDING" && isActive
        ? done(
            told(
              { ...purchase, priceChange: { ...purchase.priceChange, state: "CONFIRMED" } },
              "PRICE_CHANGE_UPDATED",
              now
            )
          )
        : impossible("no consent is asked for")
    case "revoke":
      return done(revoked(purchase, now))
    case "expire":
      return done(expired(purchase, now))
    default:
      return impossible("not a deed of subscriptions")
  }
}

/** What a deed makes of a purchase that is up to date (`elapse`), or why the store would not do it. */
export const decide = (purchase: Purchase, deed: Deed, moment: Moment): Decision => {
  switch (deed._tag) {
    case "complete":
      return purchase.state === "PENDING" ? done(completed(purchase, moment)) : impossible("no payment is awaited")
    case "cancelPending":
      if (purchase.state !== "PENDING") return impossible("no payment is awaited")
      return purchase.terms.one_time
        ? done(toldOnce({ ...purchase, state: "CANCELLED" }, false, moment.now))
        : done(told({ ...purchase, state: "PENDING_PURCHASE_CANCELED" }, "PENDING_PURCHASE_CANCELED", moment.now))
    case "refund":
      return refunded(purchase, deed, moment.now)
    case "acknowledge":
      return isPaid(purchase) ? done(silent({ ...purchase, isAcknowledged: true })) : impossible("nothing was paid")
    case "consume":
      return purchase.terms.one_time && purchase.state === "ACTIVE"
        ? done(silent({ ...purchase, isAcknowledged: true, isConsumed: true }))
        : impossible("only a one-time purchase that is paid is consumed")
    default:
      if (purchase.terms.one_time) return impossible("what is bought once never renews")
      return isPaid(purchase) ? ofSubscriptions(purchase, deed, moment) : impossible("the first payment is awaited")
  }
}
