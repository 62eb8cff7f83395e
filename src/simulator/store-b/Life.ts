import { after, type Length } from "../Timescale.ts"
import {
  type CanceledBy,
  type Moment,
  orderOf,
  type Outcome,
  type Plan,
  type Purchase,
  silent,
  chained,
  told,
  toldOnce
} from "./Purchase.ts"
import type { NewPurchase, Offer } from "./Terms.ts"

/** The reason that the store gives when it takes back what nobody acknowledged. */
const unacknowledged = { source: 2, reason: 8 } as const

export const planOf = (terms: NewPurchase): Plan => ({
  productId: terms.product_id,
  basePlanId: terms.base_plan_id,
  price: terms.price,
  length: terms.period_seconds ?? terms.period
})

const offerOf = (terms: NewPurchase): Offer | undefined =>
  terms.offer ??
  (terms.trial
    ? { kind: "free_trial", offer_id: undefined, period: terms.trial_period, periods: 1, price: 0 }
    : undefined)

const lengthOf = ({ length }: Plan, offer: Offer | undefined): Length => offer?.period ?? length

const onePeriodLess = (offer: Purchase["offer"]): Purchase["offer"] =>
  offer === undefined || offer.left <= 1 ? undefined : { ...offer, left: offer.left - 1 }

const begun = (purchase: Purchase, { now, scale }: Moment): Purchase => ({
  ...purchase,
  state: "ACTIVE",
  startTime: now,
  expiryTime: purchase.terms.one_time ? Infinity : after(now, lengthOf(purchase.plan, purchase.phase), scale),
  acknowledgeBy: after(now, purchase.terms.acknowledge_within, scale)
})

/** A purchase from now on, paid or awaiting its payment; told as bought. */
export const bought = (
  terms: NewPurchase,
  names: Pick<Purchase, "token" | "order" | "linkedPurchaseToken" | "expiredPurchaseToken">,
  moment: Moment
): Outcome => {
  const offer = offerOf(terms)
  const plan = planOf(terms)
  const waiting: Purchase = {
    ...names,
    terms,
    startTime: moment.now,
    expiryTime: Infinity,
    renewals: 0,
    state: "PENDING",
    autoRenew: !terms.one_time && !terms.prepaid,
    paymentWorks: terms.payment_works,
    plan,
    next: plan,
    phase: offer,
    offer: onePeriodLess(offer === undefined ? undefined : { terms: offer, left: offer.periods }),
    priceChange: undefined,
    plannedPause: undefined,
    autoResumeTime: undefined,
    holdEnds: undefined,
    canceled: undefined,
    isAcknowledged: false,
    acknowledgeBy: Infinity,
    isConsumed: false,
    refundedQuantity: 0
  }
  const purchase = terms.pending ? waiting : begun(waiting, moment)
  return terms.one_time ? toldOnce(purchase, true, moment.now) : told(purchase, "PURCHASED", moment.now)
}

/** The first payment came in. */
export const completed = (purchase: Purchase, moment: Moment): Outcome => {
  const running = begun(purchase, moment)
  return purchase.terms.one_time ? toldOnce(running, true, moment.now) : told(running, "PURCHASED", moment.now)
}

/** The next period, from a moment on. What was paused before anybody acknowledged it is due for that when it runs again. */
export const nextPeriod = (purchase: Purchase, start: number, { scale }: Moment): Purchase => {
  const { next, offer, priceChange } = purchase
  const plan = priceChange?.state === "CONFIRMED" ? { ...next, price: priceChange.price } : next
  return {
    ...purchase,
    state: "ACTIVE",
    plan,
    next: plan,
    phase: offer?.terms,
    offer: onePeriodLess(offer),
    priceChange: undefined,
    paymentWorks: true,
    renewals: purchase.renewals + 1,
    acknowledgeBy: Math.max(purchase.acknowledgeBy, start),
    expiryTime: after(start, lengthOf(plan, offer?.terms), scale),
    autoResumeTime: undefined,
    plannedPause: undefined,
    holdEnds: undefined
  }
}

/** Access goes on although the charge failed: the expiry moves. */
export const inGrace = (purchase: Purchase, grace: Length, { now, scale }: Moment): Outcome =>
  told(
    { ...purchase, state: "IN_GRACE_PERIOD", paymentWorks: false, expiryTime: after(now, grace, scale) },
    "IN_GRACE_PERIOD",
    now
  )

/** No access until the charge succeeds, for as long as the hold lasts. */
export const onHold = (purchase: Purchase, { now, scale }: Moment): Outcome =>
  told(
    {
      ...purchase,
      state: "ON_HOLD",
      paymentWorks: false,
      autoResumeTime: undefined,
      expiryTime: Math.min(now, purchase.expiryTime),
      holdEnds: after(now, purchase.terms.hold_period, scale)
    },
    "ON_HOLD",
    now
  )

export const paused = (purchase: Purchase, length: Length, { now, scale }: Moment): Outcome =>
  told(
    {
      ...purchase,
      state: "PAUSED",
      plannedPause: undefined,
      expiryTime: Math.min(now, purchase.expiryTime),
      autoResumeTime: after(now, length, scale)
    },
    "PAUSED",
    now
  )

export const canceled = (purchase: Purchase, by: CanceledBy, now: number): Outcome =>
  told(
    { ...purchase, state: "CANCELED", autoRenew: false, plannedPause: undefined, canceled: { by, at: now } },
    "CANCELED",
    now
  )

const over = (purchase: Purchase, now: number): Purchase => ({
  ...purchase,
  state: "EXPIRED",
  autoRenew: false,
  plannedPause: undefined,
  autoResumeTime: undefined,
  holdEnds: undefined,
  expiryTime: Math.min(now, purchase.expiryTime)
})

export const expired = (purchase: Purchase, now: number): Outcome => told(over(purchase, now), "EXPIRED", now)

export const revoked = (purchase: Purchase, now: number): Outcome => told(over(purchase, now), "REVOKED", now)

/** Its running order taken back whole: access ends, the store lists the order and tells of it. */
export const voided = (
  purchase: Purchase,
  why: { readonly source: 0 | 1 | 2; readonly reason: number },
  now: number
): Outcome => {
  const orderId = orderOf(purchase)
  const taken: Purchase = purchase.terms.one_time ? { ...purchase, state: "CANCELLED" } : over(purchase, now)
  return {
    purchase: taken,
    notices: [{ word: { _tag: "voided", orderId, refundType: 1 }, at: now, purchase: taken }],
    voided: [{ orderId, at: now, quantity: undefined, ...why }]
  }
}

const neverAcknowledged = (purchase: Purchase, now: number): Outcome => {
  const refund = (one: Purchase) => voided(one, unacknowledged, now)
  return purchase.terms.one_time ? refund(purchase) : chained(revoked(purchase, now), refund)
}

const awaitsAcknowledgement = ({ isAcknowledged, isConsumed, state }: Purchase): boolean =>
  !isAcknowledged && !isConsumed && (state === "ACTIVE" || state === "CANCELED" || state === "IN_GRACE_PERIOD")

/** When the running state ends by itself; in milliseconds since 1970. */
const stateEnds = (purchase: Purchase): number => {
  if (purchase.terms.one_time) return Infinity
  switch (purchase.state) {
    case "ACTIVE":
    case "CANCELED":
    case "IN_GRACE_PERIOD":
      return purchase.expiryTime
    case "ON_HOLD":
      return purchase.holdEnds ?? Infinity
    case "PAUSED":
      return purchase.autoResumeTime ?? Infinity
    default:
      return Infinity
  }
}

const acknowledgementEnds = (purchase: Purchase): number =>
  awaitsAcknowledgement(purchase) ? purchase.acknowledgeBy : Infinity

/** When something next happens to a purchase by itself; in milliseconds since 1970. */
export const dueOf = (purchase: Purchase): number | undefined => {
  const due = Math.min(stateEnds(purchase), acknowledgementEnds(purchase))
  return due === Infinity ? undefined : due
}

const periodEnded = (purchase: Purchase, moment: Moment): Outcome => {
  const { now } = moment
  const { paymentWorks, plannedPause, priceChange, terms } = purchase
  if (!purchase.autoRenew) return expired(purchase, now)
  if (plannedPause !== undefined) return paused(purchase, plannedPause, moment)
  if (priceChange?.state === "OUTSTANDING") {
    return chained(canceled(purchase, "system", now), (one) => expired(one, now))
  }
  if (paymentWorks) return told(nextPeriod(purchase, purchase.expiryTime, moment), "RENEWED", now)
  return terms.grace_period === undefined ? onHold(purchase, moment) : inGrace(purchase, terms.grace_period, moment)
}

const happened = (purchase: Purchase, moment: Moment): Outcome => {
  const { now } = moment
  if (acknowledgementEnds(purchase) <= stateEnds(purchase)) return neverAcknowledged(purchase, now)
  switch (purchase.state) {
    case "ACTIVE":
      return periodEnded(purchase, moment)
    case "IN_GRACE_PERIOD":
      return onHold(purchase, moment)
    case "ON_HOLD":
      return chained(canceled(purchase, "system", now), (one) => expired(one, now))
    case "PAUSED":
      return purchase.paymentWorks
        ? told(nextPeriod(purchase, now, moment), "RECOVERED", now)
        : onHold(purchase, moment)
    default:
      return expired(purchase, now)
  }
}

/**
 * All that happens to a purchase by itself until a moment, in order: renewals, failed charges, grace, hold, pauses and
 * their ends, expiry, the refund of what nobody acknowledged. In two steps or in one, the result is the same.
 */
export const elapse = (purchase: Purchase, { now, scale }: Moment): Outcome => {
  let outcome = silent(purchase)
  for (let due = dueOf(purchase); due !== undefined && due <= now; due = dueOf(outcome.purchase)) {
    const moment = { now: due, scale }
    outcome = chained(outcome, (state) => happened(state, moment))
  }
  return outcome
}
