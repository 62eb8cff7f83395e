import { after, type Length } from "../Timescale.ts"
import {
  current,
  type Moment,
  notice,
  type Outcome,
  type Product,
  type Purchase,
  type Transaction
} from "./Purchase.ts"
import type { NewPurchase, Offer } from "./Terms.ts"

const idsOfPurchase = 100_000

/** The nth transaction of a chain has the nth number after the chain's own. */
const idOf = ({ originalTransactionId }: Pick<Purchase, "originalTransactionId">, nth: number): string =>
  String(Number(originalTransactionId) + nth)

/** The chain that is the nth of a store: far enough from its neighbours for all their periods. */
export const chainId = (nth: number): string => String(2_000_000_000_000_000 + nth * idsOfPurchase)

export const productOf = (terms: NewPurchase): Product => ({
  productId: terms.product_id,
  price: terms.price,
  length: terms.period_seconds ?? terms.period
})

const offerOf = (terms: NewPurchase): Offer | undefined =>
  terms.offer ??
  (terms.trial
    ? {
        kind: "introductory",
        discount: "FREE_TRIAL",
        identifier: undefined,
        period: terms.trial_period,
        periods: 1,
        price: 0
      }
    : undefined)

/** A period on an offer has the product's length, unless it is free or paid at once for a length of its own. */
const lengthOf = ({ length }: Product, offer: Offer | undefined): Length =>
  offer === undefined || offer.discount === "PAY_AS_YOU_GO" ? length : (offer.period ?? length)

const period = (
  chain: { readonly originalTransactionId: string; readonly before: number },
  product: Product,
  offer: Offer | undefined,
  start: number,
  reason: Transaction["reason"],
  { scale }: Moment
): Transaction => ({
  transactionId: idOf(chain, chain.before),
  productId: product.productId,
  price: offer === undefined ? product.price : offer.price,
  purchaseDate: start,
  expiresDate: after(start, lengthOf(product, offer), scale),
  reason,
  offer,
  isUpgraded: false,
  revocation: undefined
})

/** An offer as it is promised: for one period, or for as many as are paid as they go. */
export const promise = (offer: Offer | undefined): Purchase["offer"] =>
  offer === undefined ? undefined : { terms: offer, left: offer.discount === "PAY_AS_YOU_GO" ? offer.periods : 1 }

const onePeriodLess = (offer: Purchase["offer"]): Purchase["offer"] =>
  offer === undefined || offer.left <= 1 ? undefined : { ...offer, left: offer.left - 1 }

/** A purchase from now on, told as bought for the first time. */
export const bought = (
  terms: NewPurchase,
  originalTransactionId: string,
  moment: Moment,
  sharedBy?: string
): Outcome => {
  const product = productOf(terms)
  const offer = offerOf(terms)
  const isSubscription = terms.type === "Auto-Renewable Subscription"
  const first = period({ originalTransactionId, before: 0 }, product, offer, moment.now, "PURCHASE", moment)
  const purchase: Purchase = {
    terms,
    originalTransactionId,
    transactions: [isSubscription ? first : { ...first, expiresDate: Infinity }],
    status: 1,
    autoRenew: isSubscription,
    paymentWorks: terms.payment_works,
    isForSale: true,
    running: product,
    next: product,
    offer: onePeriodLess(promise(offer)),
    rise: undefined,
    gracePeriodExpiresDate: undefined,
    retryEnds: undefined,
    expirationIntent: undefined,
    sharedBy
  }
  const told = isSubscription
    ? notice("SUBSCRIBED", "INITIAL_BUY", moment.now, purchase)
    : notice("ONE_TIME_CHARGE", undefined, moment.now, purchase)
  return { purchase, notices: [told] }
}

/**
 * The purchase with one more period of what comes next, running, on an offer if there is one. A renewal before its time
 * begins when the period before it ends: what follows begins no earlier.
 */
export const withPeriod = (
  purchase: Purchase,
  start: number,
  reason: Transaction["reason"],
  offer: Purchase["offer"],
  moment: Moment
): Purchase => {
  const { next, originalTransactionId, rise, transactions } = purchase
  const rises = rise !== undefined && (rise.agreed || !rise.needsConsent)
  const product = rises ? { ...next, price: rise.price } : next
  const chain = { originalTransactionId, before: transactions.length }
  const begins = Math.max(start, current(purchase).purchaseDate)
  return {
    ...purchase,
    transactions: [...transactions, period(chain, product, offer?.terms, begins, reason, moment)],
    status: 1,
    running: product,
    next: product,
    offer: onePeriodLess(offer),
    rise: undefined,
    gracePeriodExpiresDate: undefined,
    retryEnds: undefined,
    expirationIntent: undefined
  }
}

/** The same purchase with its running transaction changed. */
export const withCurrent = (purchase: Purchase, changes: Partial<Transaction>): Purchase =>
  withTransaction(purchase, current(purchase).transactionId, changes)

export const withTransaction = (purchase: Purchase, id: string, changes: Partial<Transaction>): Purchase => {
  const [first, ...rest] = purchase.transactions
  const changed = (one: Transaction): Transaction => (one.transactionId === id ? { ...one, ...changes } : one)
  return { ...purchase, transactions: [changed(first), ...rest.map(changed)] }
}
