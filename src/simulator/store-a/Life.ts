import { after, type Length } from "../Timescale.ts"
import { withCurrent, withPeriod } from "./Period.ts"
import { current, type Moment, notice, type Outcome, type Purchase, renews } from "./Purchase.ts"

export type Ending = "VOLUNTARY" | "BILLING_RETRY" | "PRICE_INCREASE" | "PRODUCT_NOT_FOR_SALE"

const intents = { VOLUNTARY: 1, BILLING_RETRY: 2, PRICE_INCREASE: 3, PRODUCT_NOT_FOR_SALE: 4 } as const

/** How long the store tries again to collect what could not be charged. */
const retryPeriod = "P60D"

/** One notice of a changed purchase. */
export const told = (
  purchase: Purchase,
  at: number,
  type: string,
  subtype?: string,
  transactionId?: string
): Outcome => ({ purchase, notices: [notice(type, subtype, at, purchase, transactionId)] })

/** The purchase over, for a reason. */
export const ended = (purchase: Purchase, at: number, reason: Ending): Outcome => {
  const over = withCurrent(purchase, { expiresDate: Math.min(at, current(purchase).expiresDate) })
  return told(
    {
      ...over,
      status: 2,
      autoRenew: false,
      rise: undefined,
      gracePeriodExpiresDate: undefined,
      retryEnds: undefined,
      expirationIntent: intents[reason]
    },
    at,
    "EXPIRED",
    reason
  )
}

/** A charge that failed, with or without service going on. */
export const failed = (purchase: Purchase, grace: Length | undefined, { now, scale }: Moment): Outcome => {
  const retrying = { ...purchase, paymentWorks: false, retryEnds: after(now, retryPeriod, scale) }
  return grace === undefined
    ? told({ ...retrying, status: 3 }, now, "DID_FAIL_TO_RENEW")
    : told(
        { ...retrying, status: 4, gracePeriodExpiresDate: after(now, grace, scale) },
        now,
        "DID_FAIL_TO_RENEW",
        "GRACE_PERIOD"
      )
}

/** The next period, or the one that a late payment buys. */
export const renewed = (purchase: Purchase, moment: Moment): Outcome => {
  const { expiresDate } = current(purchase)
  const isRecovery = purchase.status !== 1
  const start = purchase.status === 3 ? Math.max(moment.now, expiresDate) : expiresDate
  const running = withPeriod({ ...purchase, paymentWorks: true }, start, "RENEWAL", purchase.offer, moment)
  return told(running, moment.now, "DID_RENEW", isRecovery ? "BILLING_RECOVERY" : undefined)
}

/** When something next happens to a purchase by itself; in milliseconds since 1970. */
export const dueOf = (purchase: Purchase): number | undefined => {
  if (!renews(purchase)) return undefined
  switch (purchase.status) {
    case 1:
      return current(purchase).expiresDate
    case 3:
      return purchase.retryEnds
    case 4:
      return purchase.gracePeriodExpiresDate
    default:
      return undefined
  }
}

const periodEnded = (purchase: Purchase, moment: Moment): Outcome => {
  const { autoRenew, isForSale, paymentWorks, rise, terms } = purchase
  if (!autoRenew) return ended(purchase, moment.now, "VOLUNTARY")
  if (!isForSale) return ended(purchase, moment.now, "PRODUCT_NOT_FOR_SALE")
  if (rise?.needsConsent === true && !rise.agreed) return ended(purchase, moment.now, "PRICE_INCREASE")
  return paymentWorks ? renewed(purchase, moment) : failed(purchase, terms.grace_period, moment)
}

const happened = (purchase: Purchase, moment: Moment): Outcome => {
  switch (purchase.status) {
    case 4:
      return told({ ...purchase, status: 3, gracePeriodExpiresDate: undefined }, moment.now, "GRACE_PERIOD_EXPIRED")
    case 3:
      return ended(purchase, moment.now, "BILLING_RETRY")
    default:
      return periodEnded(purchase, moment)
  }
}

/**
 * All that happens to a purchase by itself until a moment, in order: renewals, failed charges, the ends of grace and
 * retries, expiry. In two steps or in one, the result is the same.
 */
export const elapse = (purchase: Purchase, { now, scale }: Moment): Outcome => {
  let state = purchase
  const notices: Array<Outcome["notices"][number]> = []
  for (let due = dueOf(state); due !== undefined && due <= now; due = dueOf(state)) {
    const outcome = happened(state, { now: due, scale })
    notices.push(...outcome.notices)
    state = outcome.purchase
  }
  return { purchase: state, notices }
}
