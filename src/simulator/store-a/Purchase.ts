import type { Either } from "effect"
import type { Length, Scale } from "../Timescale.ts"
import type { NewPurchase, Offer } from "./Terms.ts"

/** What is sold for one period; `price` in milliunits. */
export interface Product {
  readonly productId: string
  readonly price: number
  readonly length: Length
}

/** Why and when money went back, or a family member lost access. */
export interface Revocation {
  readonly date: number
  readonly reason: 0 | 1
  readonly type: "REFUND_FULL" | "REFUND_PRORATED" | "FAMILY_REVOKE"
  readonly percentage: number
}

/** One period, or one thing bought once; times in milliseconds since the epoch. */
export interface Transaction {
  readonly transactionId: string
  readonly productId: string
  readonly price: number
  readonly purchaseDate: number
  readonly expiresDate: number
  readonly reason: "PURCHASE" | "RENEWAL"
  readonly offer: Offer | undefined
  readonly isUpgraded: boolean
  readonly revocation: Revocation | undefined
}

/** A price rise that awaits the next renewal, and the customer's word where that is needed. */
export interface Rise {
  readonly price: number
  readonly needsConsent: boolean
  readonly agreed: boolean
}

/** One chain of transactions as the store sees it: a subscription with all its periods, or a single purchase. */
export interface Purchase {
  readonly terms: NewPurchase
  readonly originalTransactionId: string
  /** Oldest first; the last is the running one. */
  readonly transactions: readonly [Transaction, ...ReadonlyArray<Transaction>]
  /** 1 active, 2 expired, 3 billing retry, 4 grace period, 5 revoked. */
  readonly status: 1 | 2 | 3 | 4 | 5
  readonly autoRenew: boolean
  readonly paymentWorks: boolean
  readonly isForSale: boolean
  readonly running: Product
  /** What the next period will be. */
  readonly next: Product
  /** For how many periods to come an offer holds. */
  readonly offer: { readonly terms: Offer; readonly left: number } | undefined
  readonly rise: Rise | undefined
  readonly gracePeriodExpiresDate: number | undefined
  readonly retryEnds: number | undefined
  readonly expirationIntent: 1 | 2 | 3 | 4 | 5 | undefined
  /** The purchase of the family member who pays. */
  readonly sharedBy: string | undefined
}

/** What the store says of a change: a type, and the purchase as it was then. */
export interface Notice {
  readonly type: string
  readonly subtype: string | undefined
  readonly at: number
  readonly purchase: Purchase
  readonly transactionId: string
}

export interface Outcome {
  readonly purchase: Purchase
  readonly notices: ReadonlyArray<Notice>
}

/** A change that the store would not make of this purchase now. */
export interface Impossible {
  readonly reason: string
}

export type Decision = Either.Either<Outcome, Impossible>

/** When, and at what pace of the clock. */
export interface Moment {
  readonly now: number
  readonly scale: Scale
}

export const current = ({ transactions }: Purchase): Transaction => transactions.at(-1) ?? transactions[0]

/** Whether it is a subscription: only those have a status, a period and an intent to renew. */
export const renews = ({ terms }: Purchase): boolean => terms.type === "Auto-Renewable Subscription"

export const isTrial = ({ offer }: Transaction): boolean => offer?.discount === "FREE_TRIAL"

/** Speaks of a purchase as it now is, by default of its running period. */
export const notice = (
  type: string,
  subtype: string | undefined,
  at: number,
  purchase: Purchase,
  transactionId = current(purchase).transactionId
): Notice => ({ type, subtype, at, purchase, transactionId })

/** What a control call shows of a purchase. */
export const shown = (purchase: Purchase) => {
  const { expiresDate, isUpgraded, productId, purchaseDate, revocation, transactionId, ...transaction } =
    current(purchase)
  return {
    ...purchase,
    transactionId,
    productId,
    purchaseDate,
    originalPurchaseDate: purchase.transactions[0].purchaseDate,
    expiresDate,
    isUpgraded,
    isTrial: transaction.offer?.discount === "FREE_TRIAL",
    revocationDate: revocation?.date
  }
}
