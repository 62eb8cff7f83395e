import { Either } from "effect"
import { after, type Length } from "../Timescale.ts"
import { ended, type Ending, failed, renewed, told } from "./Life.ts"
import { promise, withCurrent, withPeriod, withTransaction } from "./Period.ts"
import {
  current,
  type Decision,
  type Moment,
  type Outcome,
  type Product,
  type Purchase,
  renews,
  type Revocation
} from "./Purchase.ts"
import type { Offer } from "./Terms.ts"

/** What a customer, a bank or the store itself does to a purchase. */
export type Deed =
  | { readonly _tag: "renew" | "cancel" | "uncancel" | "cancelChange" | "withdraw" | "revoke" | "declineRefund" }
  | { readonly _tag: "failBilling"; readonly grace: Length | undefined }
  | { readonly _tag: "setPayment"; readonly works: boolean }
  | { readonly _tag: "expire"; readonly reason: Ending | undefined }
  | {
      readonly _tag: "refund"
      readonly transactionId: string | undefined
      readonly percent: number
      readonly reason: Revocation["reason"]
    }
  | { readonly _tag: "reverseRefund"; readonly transactionId: string | undefined }
  | { readonly _tag: "requestRefund" }
  | { readonly _tag: "change"; readonly product: Product; readonly mode: "upgrade" | "downgrade" | "crossgrade" }
  | { readonly _tag: "redeem"; readonly offer: Offer }
  | { readonly _tag: "raisePrice"; readonly price: number; readonly needsConsent: boolean }
  | { readonly _tag: "answerRise"; readonly agrees: boolean }
  | { readonly _tag: "extend"; readonly length: Length }
  | { readonly _tag: "resubscribe"; readonly product: Product | undefined; readonly offer: Offer | undefined }

const impossible = (reason: string): Decision => Either.left({ reason })
const done = (outcome: Outcome): Decision => Either.right(outcome)

const isRunning = ({ status }: Purchase): boolean => status === 1 || status === 3 || status === 4

const refunded = (purchase: Purchase, deed: Extract<Deed, { _tag: "refund" }>, { now }: Moment): Decision => {
  const id = deed.transactionId ?? current(purchase).transactionId
  const target = purchase.transactions.find(({ transactionId }) => transactionId === id)
  if (target === undefined) return impossible("the purchase has no such transaction")
  if (target.revocation !== undefined) return impossible("the transaction is refunded already")
  const type = deed.percent === 100 ? ("REFUND_FULL" as const) : ("REFUND_PRORATED" as const)
  const revocation = { date: now, reason: deed.reason, type, percentage: deed.percent }
  const taken = withTransaction(purchase, id, { revocation })
  const isCurrent = current(purchase).transactionId === id
  const state = isCurrent ? { ...taken, status: 5 as const, autoRenew: false } : taken
  return done(told(state, now, "REFUND", undefined, id))
}

const givenBack = (purchase: Purchase, transactionId: string | undefined, { now }: Moment): Decision => {
  const refunds = purchase.transactions.filter(({ revocation }) => revocation !== undefined)
  const target =
    transactionId === undefined ? refunds.at(-1) : refunds.find((one) => one.transactionId === transactionId)
  if (target === undefined) return impossible("nothing of the purchase is refunded")
  if (target.revocation?.type === "FAMILY_REVOKE") return impossible("the access was revoked, not refunded")
  const restored = withTransaction(purchase, target.transactionId, { revocation: undefined })
  const isCurrent = current(purchase).transactionId === target.transactionId
  const state = isCurrent ? { ...restored, status: target.expiresDate > now ? (1 as const) : (2 as const) } : restored
  return done(told(state, now, "REFUND_REVERSED", undefined, target.transactionId))
}

const changed = (
  purchase: Purchase,
  { mode, product }: Extract<Deed, { _tag: "change" }>,
  moment: Moment
): Decision => {
  if (purchase.status !== 1) return impossible("only an active subscription changes its product")
  const isSameLength = product.length === purchase.running.length
  const state = { ...purchase, next: product, autoRenew: true, offer: undefined, rise: undefined }
  if (mode === "downgrade" || (mode === "crossgrade" && !isSameLength)) {
    return done(told(state, moment.now, "DID_CHANGE_RENEWAL_PREF", "DOWNGRADE"))
  }
  const replaced = withCurrent(state, { isUpgraded: true })
  const running = withPeriod(replaced, moment.now, "PURCHASE", undefined, moment)
  return done(told(running, moment.now, "DID_CHANGE_RENEWAL_PREF", "UPGRADE"))
}

const resubscribed = (
  purchase: Purchase,
  { offer, product }: { readonly product: Product | undefined; readonly offer: Offer | undefined },
  moment: Moment
): Decision => {
  if (isRunning(purchase)) return impossible("the subscription has not ended")
  const state = { ...purchase, next: product ?? purchase.next, autoRenew: true, paymentWorks: true, isForSale: true }
  const running = withPeriod(state, moment.now, "PURCHASE", promise(offer), moment)
  return done(told(running, moment.now, "SUBSCRIBED", "RESUBSCRIBE"))
}

const expired = (purchase: Purchase, reason: Ending | undefined, { now }: Moment): Decision =>
  isRunning(purchase)
    ? done(ended(purchase, now, reason ?? (purchase.autoRenew ? "BILLING_RETRY" : "VOLUNTARY")))
    : impossible("the subscription has ended")

const ofSubscriptions = (purchase: Purchase, deed: Deed, moment: Moment): Decision => {
  const { now } = moment
  const renewal = (on: boolean) =>
    told(
      { ...purchase, autoRenew: on },
      now,
      "DID_CHANGE_RENEWAL_STATUS",
      on ? "AUTO_RENEW_ENABLED" : "AUTO_RENEW_DISABLED"
    )
  switch (deed._tag) {
    case "renew":
      if (!isRunning(purchase)) return impossible("the subscription has ended: resubscribe")
      return purchase.autoRenew ? done(renewed(purchase, moment)) : impossible("renewal is off: uncancel")
    case "cancel":
      if (!isRunning(purchase)) return impossible("the subscription has ended")
      return purchase.autoRenew ? done(renewal(false)) : impossible("renewal is off already")
    case "uncancel":
      if (!isRunning(purchase)) return impossible("the subscription has ended: resubscribe")
      return purchase.autoRenew ? impossible("renewal is on already") : done(renewal(true))
    case "failBilling":
      return purchase.status === 1 && purchase.autoRenew
        ? done(failed(purchase, deed.grace, moment))
        : impossible("only an active subscription that renews is charged")
    case "setPayment": {
      const state = { ...purchase, paymentWorks: deed.works }
      const isRecovered = deed.works && (purchase.status === 3 || purchase.status === 4) && purchase.autoRenew
      return done(isRecovered ? renewed(state, moment) : { purchase: state, notices: [] })
    }
    case "expire":
      return expired(purchase, deed.reason, moment)
    case "change":
      return changed(purchase, deed, moment)
    case "cancelChange":
      return purchase.running.productId === purchase.next.productId
        ? impossible("no change is planned")
        : done(told({ ...purchase, next: purchase.running }, now, "DID_CHANGE_RENEWAL_PREF"))
    case "redeem":
      if (!isRunning(purchase)) return resubscribed(purchase, { product: undefined, offer: deed.offer }, moment)
      return purchase.status === 1
        ? done(told({ ...purchase, offer: promise(deed.offer), autoRenew: true }, now, "OFFER_REDEEMED"))
        : impossible("an offer needs a payment that works")
    case "raisePrice": {
      if (purchase.status !== 1) return impossible("only an active subscription gets a new price")
      const { needsConsent, price } = deed
      const state = { ...purchase, rise: { price, needsConsent, agreed: false } }
      return done(told(state, now, "PRICE_INCREASE", needsConsent ? "PENDING" : "ACCEPTED"))
    }
    case "answerRise":
      if (purchase.status !== 1 || purchase.rise?.needsConsent !== true) return impossible("no consent is asked for")
      return deed.agrees
        ? done(told({ ...purchase, rise: { ...purchase.rise, agreed: true } }, now, "PRICE_INCREASE", "ACCEPTED"))
        : done(told({ ...purchase, autoRenew: false }, now, "DID_CHANGE_RENEWAL_STATUS"))
    case "extend": {
      if (purchase.status !== 1) return impossible("only an active subscription is extended")
      const expiresDate = after(current(purchase).expiresDate, deed.length, moment.scale)
      return done(told(withCurrent(purchase, { expiresDate }), now, "RENEWAL_EXTENDED"))
    }
    case "withdraw":
      return done({ purchase: { ...purchase, isForSale: false }, notices: [] })
    case "resubscribe":
      return resubscribed(purchase, deed, moment)
    default:
      return impossible("not a deed of subscriptions")
  }
}

/** What a deed makes of a purchase that is up to date (`elapse`), or why the store would not do it. */
export const decide = (purchase: Purchase, deed: Deed, moment: Moment): Decision => {
  switch (deed._tag) {
    case "refund":
      return refunded(purchase, deed, moment)
    case "reverseRefund":
      return givenBack(purchase, deed.transactionId, moment)
    case "requestRefund":
      return done(told(purchase, moment.now, "CONSUMPTION_REQUEST"))
    case "declineRefund":
      return done(told(purchase, moment.now, "REFUND_DECLINED"))
    case "revoke": {
      if (purchase.sharedBy === undefined) return impossible("only what the family shares is revoked: refund")
      if (purchase.status === 5) return impossible("the access is revoked already")
      const revocation = { date: moment.now, reason: 0, type: "FAMILY_REVOKE", percentage: 100 } as const
      const state = { ...withCurrent(purchase, { revocation }), status: 5 as const, autoRenew: false }
      return done(told(state, moment.now, "REVOKE"))
    }
    default:
      return renews(purchase) ? ofSubscriptions(purchase, deed, moment) : impossible("what is bought once never renews")
  }
}
