import type { Either } from "effect"
import type { Length, Scale } from "../Timescale.ts"
import type { NewPurchase, Offer } from "./Terms.ts"

/** What is sold for one period; `price` in units of the currency. */
export interface Plan {
  readonly productId: string
  readonly basePlanId: string | undefined
  readonly price: number
  readonly length: Length
}

export type State =
  | "PENDING"
  | "PENDING_PURCHASE_CANCELED"
  | "ACTIVE"
  | "CANCELED"
  | "IN_GRACE_PERIOD"
  | "ON_HOLD"
  | "PAUSED"
  | "EXPIRED"
  /** A one-time purchase that was taken back, or never paid. */
  | "CANCELLED"

export type CanceledBy = "user" | "system" | "developer" | "replacement"

/** A new price for the next period: `OUTSTANDING` awaits the customer's word. */
export interface PriceChange {
  readonly price: number
  readonly mode: "PRICE_DECREASE" | "PRICE_INCREASE" | "OPT_OUT_PRICE_INCREASE"
  readonly state: "OUTSTANDING" | "CONFIRMED"
}

/** One purchase token as the store sees it; times in milliseconds since the epoch. */
export interface Purchase {
  readonly terms: NewPurchase
  readonly token: string
  readonly order: string
  readonly startTime: number
  readonly expiryTime: number
  readonly renewals: number
  /** The end of `subscriptionState` or `purchaseState`. */
  readonly state: State
  readonly autoRenew: boolean
  readonly paymentWorks: boolean
  readonly plan: Plan
  /** What the next period will be. */
  readonly next: Plan
  /** What the running period is sold on, and for how many periods to come. */
  readonly phase: Offer | undefined
  readonly offer: { readonly terms: Offer; readonly left: number } | undefined
  readonly priceChange: PriceChange | undefined
  /** For how long it will pause after this period. */
  readonly plannedPause: Length | undefined
  readonly autoResumeTime: number | undefined
  readonly holdEnds: number | undefined
  readonly canceled: { readonly by: CanceledBy; readonly at: number } | undefined
  readonly isAcknowledged: boolean
  /** When it is refunded unless it is acknowledged. */
  readonly acknowledgeBy: number
  readonly isConsumed: boolean
  readonly refundedQuantity: number
  readonly linkedPurchaseToken: string | undefined
  /** The purchase that had expired when this one was bought in the store's own pages. */
  readonly expiredPurchaseToken: string | undefined
}

/** An order that was taken back: the store's own list keeps it. */
export interface Voided {
  readonly orderId: string
  readonly at: number
  readonly source: 0 | 1 | 2
  readonly reason: number
  readonly quantity: number | undefined
}

/** What a notification says: the number of a type, or an order that was voided. */
export type Word =
  | { readonly _tag: "told"; readonly type: number }
  | { readonly _tag: "voided"; readonly orderId: string; readonly refundType: 1 | 2 }

export interface Notice {
  readonly word: Word
  readonly at: number
  readonly purchase: Purchase
}

export interface Outcome {
  readonly purchase: Purchase
  readonly notices: ReadonlyArray<Notice>
  readonly voided: ReadonlyArray<Voided>
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

export const types = {
  RECOVERED: 1,
  RENEWED: 2,
  CANCELED: 3,
  PURCHASED: 4,
  ON_HOLD: 5,
  IN_GRACE_PERIOD: 6,
  RESTARTED: 7,
  DEFERRED: 9,
  PAUSED: 10,
  PAUSE_SCHEDULE_CHANGED: 11,
  REVOKED: 12,
  EXPIRED: 13,
  PRICE_CHANGE_UPDATED: 19,
  PENDING_PURCHASE_CANCELED: 20
} as const

const oneTimePurchased = 1
const oneTimeCanceled = 2

export const isTrial = ({ phase }: Purchase): boolean => phase?.kind === "free_trial"

export const orderOf = ({ order, renewals }: Purchase): string => (renewals === 0 ? order : `${order}..${renewals - 1}`)

const nothingVoided: ReadonlyArray<Voided> = []

/** A changed purchase and the notification of it. */
export const told = (purchase: Purchase, type: keyof typeof types, at: number): Outcome => ({
  purchase,
  notices: [{ word: { _tag: "told", type: types[type] }, at, purchase }],
  voided: nothingVoided
})

export const toldOnce = (purchase: Purchase, isBought: boolean, at: number): Outcome => ({
  purchase,
  notices: [{ word: { _tag: "told", type: isBought ? oneTimePurchased : oneTimeCanceled }, at, purchase }],
  voided: nothingVoided
})

export const silent = (purchase: Purchase): Outcome => ({ purchase, notices: [], voided: nothingVoided })

/** One outcome after another of the same purchase. */
export const chained = (first: Outcome, next: (purchase: Purchase) => Outcome): Outcome => {
  const second = next(first.purchase)
  return {
    purchase: second.purchase,
    notices: [...first.notices, ...second.notices],
    voided: [...first.voided, ...second.voided]
  }
}

/** What a control call shows of a purchase. */
export const shown = (purchase: Purchase) => ({
  ...purchase,
  orderId: orderOf(purchase),
  isTrial: isTrial(purchase)
})
