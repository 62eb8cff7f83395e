import { DateTime, Option } from "effect"
import type { PurchaseFact, StoreStatus, StoreTransaction } from "../../store/domain/PurchaseFact.ts"
import type { DomainEventType } from "./DomainEvent.ts"
import type { Subscription } from "./Subscription.ts"

/** What may be so of a period for a while, and be so again later. */
type Condition = "grace" | "hold" | "plan" | "pause" | "end" | "revocation" | "refund" | "issue" | "cancellation"

interface Words {
  readonly begins: DomainEventType
  readonly ends?: DomainEventType
}

const words: { readonly [Name in Condition]: Words } = {
  grace: { begins: "subscription.grace_period_started" },
  hold: { begins: "subscription.on_hold" },
  plan: { begins: "subscription.pause_scheduled" },
  pause: { begins: "subscription.paused", ends: "subscription.resumed" },
  end: { begins: "subscription.expired" },
  revocation: { begins: "subscription.revoked", ends: "subscription.refund_reversed" },
  refund: { begins: "subscription.refunded", ends: "subscription.refund_reversed" },
  issue: { begins: "subscription.billing_issue", ends: "subscription.recovered" },
  cancellation: { begins: "subscription.canceled", ends: "subscription.uncanceled" }
}

const conditions: ReadonlyArray<Condition> = [
  "grace",
  "hold",
  "plan",
  "pause",
  "end",
  "revocation",
  "refund",
  "issue",
  "cancellation"
]

type Said = { readonly [Name in Condition]?: boolean }

const sound: Said = { grace: false, hold: false, pause: false, end: false, revocation: false, issue: false }
const unpaid: Said = { grace: false, hold: false, end: false, revocation: false, issue: true }

/** What the store's own status says; it says nothing of a condition that is not named. */
const saidBy: { readonly [Status in StoreStatus]: Said } = {
  active: sound,
  paused_pending: sound,
  in_grace_period: { ...unpaid, grace: true },
  in_billing_retry: unpaid,
  on_hold: { ...unpaid, hold: true },
  paused: { grace: false, hold: false, end: false, revocation: false, pause: true },
  expired: { end: true },
  revoked: {},
  unknown: {}
}

/**
 * What a statement says of its period. It depends on nothing but the statement (the plan of a pause excepted, which is
 * told by its changes only): so what is known of a part of the statements is a part of what is known of all of them.
 */
const saidIn = (fact: PurchaseFact, next: Subscription): Said => {
  const { kind, renewal, status, transaction } = fact
  const refund = { refund: Option.isSome(transaction.refundedAt) }
  // The status that comes with a refund is that of the running period, which may be another.
  if (kind === "refunded" || kind === "refund_reversed") return refund
  if (kind === "lapsed" && next.status !== "expired") return {}
  const hasEnded = status === "expired" || status === "revoked"
  return {
    ...saidBy[status],
    ...refund,
    ...(status === "revoked" && !refund.refund ? { revocation: true } : {}),
    ...(next.storeTransactionId === transaction.transactionId ? { plan: next.status === "paused_pending" } : {}),
    ...(Option.isSome(renewal) && !hasEnded ? { cancellation: !renewal.value.willRenew } : {})
  }
}

/** A change of a period, `mark` telling it from others of its type where they are not just counted. */
export interface PeriodChange {
  readonly type: DomainEventType
  readonly transactionId: string
  readonly mark: Option.Option<string>
}

const changeOf = (type: DomainEventType, transactionId: string, mark?: string): PeriodChange => ({
  type,
  transactionId,
  mark: Option.fromNullable(mark)
})

interface Known {
  readonly holds: Set<Condition>
  readonly since: DateTime.Utc
  productIdentifier: string
}

/** Whether a purchase stands apart from the period before it: that one had run out, or was taken back. */
const isApart = (before: StoreTransaction, { purchaseDate, reason }: StoreTransaction): boolean =>
  Option.contains(reason, "purchase") &&
  (Option.exists(before.expiresDate, (end) => DateTime.lessThanOrEqualTo(end, purchaseDate)) ||
    Option.exists(before.refundedAt, (end) => DateTime.lessThanOrEqualTo(end, purchaseDate)))

/** How a period began, seen from the one before it, where one is known. */
const beginningOf = (
  originalTransactionId: string,
  transaction: StoreTransaction,
  before: Option.Option<StoreTransaction>
): DomainEventType => {
  const isFresh =
    transaction.transactionId === originalTransactionId ||
    Option.match(before, {
      onNone: () => Option.contains(transaction.reason, "purchase"),
      onSome: (last) => isApart(last, transaction)
    })
  if (transaction.periodType === "trial") return isFresh ? "subscription.trial_started" : "subscription.renewed"
  if (isFresh) return "subscription.started"
  if (Option.isNone(before)) return "subscription.renewed"
  if (before.value.periodType === "trial") return "subscription.trial_converted"
  return before.value.productIdentifier === transaction.productIdentifier
    ? "subscription.renewed"
    : "subscription.product_changed"
}

const freshStarts: ReadonlyArray<DomainEventType> = ["subscription.started", "subscription.trial_started"]

const byBegin = (left: StoreTransaction, right: StoreTransaction): number =>
  DateTime.Order(left.purchaseDate, right.purchaseDate) || (left.transactionId < right.transactionId ? -1 : 1)

/**
 * Tells the changes of a purchase chain, one statement after the other. `transactions` are the periods of the whole chain,
 * in any order. The table of the lifecycle:
 *
 * | change | event |
 * |---|---|
 * | first period; bought again after the end | `started`, `trial_started` |
 * | next period | `renewed`, `trial_converted`, `product_changed` |
 * | renewal switched off, on again | `canceled`, `uncanceled` |
 * | payment fails; succeeds after that | `billing_issue` (and `grace_period_started`, `on_hold`), `recovered` |
 * | pause planned; begins, ends | `pause_scheduled`; `paused`, `resumed` |
 * | same period, later end; another price is announced | `extended`; `price_change` |
 * | ended; taken back; given back | `expired`; `refunded`, `revoked`; `refund_reversed` |
 *
 * A period begins paid, with renewal on: what its first statement says differently is a change.
 */
export const makeTeller = (originalTransactionId: string, transactions: Iterable<StoreTransaction>) => {
  const known = new Map<string, Known>()
  const periods = [...transactions].sort(byBegin)
  const beginnings = new Map(
    periods.map((transaction, index) => [
      transaction.transactionId,
      beginningOf(originalTransactionId, transaction, Option.fromNullable(periods[index - 1]))
    ])
  )

  const begin = (fact: PurchaseFact): ReadonlyArray<PeriodChange> => {
    const { productIdentifier, purchaseDate, transactionId } = fact.transaction
    const type = beginnings.get(transactionId) ?? "subscription.renewed"
    known.set(transactionId, { holds: new Set(), since: purchaseDate, productIdentifier })
    return [changeOf(type, transactionId)]
  }

  /** A period that follows by itself shows that what kept an earlier one from it is over. */
  const overcome = ({ transaction }: PurchaseFact): ReadonlyArray<PeriodChange> => {
    if (freshStarts.includes(beginnings.get(transaction.transactionId) ?? "subscription.renewed")) return []
    return [...known]
      .filter(([, { since }]) => DateTime.lessThan(since, transaction.purchaseDate))
      .flatMap(([transactionId, { holds }]) =>
        (["issue", "pause"] as const).flatMap((condition) => {
          const { ends } = words[condition]
          return holds.delete(condition) && ends !== undefined ? [changeOf(ends, transactionId)] : []
        })
      )
  }

  const turned = (transactionId: string, said: Said, { holds }: Known): ReadonlyArray<PeriodChange> =>
    conditions.flatMap((condition) => {
      const { begins, ends } = words[condition]
      if (said[condition] === true && !holds.has(condition)) {
        holds.add(condition)
        return [changeOf(begins, transactionId)]
      }
      if (said[condition] === false && holds.delete(condition) && ends !== undefined) {
        return [changeOf(ends, transactionId)]
      }
      return []
    })

  const announced = (fact: PurchaseFact, period: Known): ReadonlyArray<PeriodChange> => {
    const { expiresDate, productIdentifier, transactionId } = fact.transaction
    const changes: Array<PeriodChange> = []
    if (period.productIdentifier !== productIdentifier) {
      period.productIdentifier = productIdentifier
      changes.push(changeOf("subscription.product_changed", transactionId, productIdentifier))
    }
    if (fact.kind === "price_change") changes.push(changeOf("subscription.price_change", transactionId, fact.factId))
    if (fact.kind === "extended" && Option.isSome(expiresDate)) {
      changes.push(changeOf("subscription.extended", transactionId, DateTime.formatIso(expiresDate.value)))
    }
    return changes
  }

  /** What changed with a statement, `next` being the state after it. */
  return (fact: PurchaseFact, next: Subscription): ReadonlyArray<PeriodChange> => {
    const { transactionId } = fact.transaction
    const beginning = known.has(transactionId) ? [] : begin(fact)
    const period = known.get(transactionId)
    if (period === undefined) return beginning
    return [
      ...beginning,
      ...overcome(fact),
      ...turned(transactionId, saidIn(fact, next), period),
      ...announced(fact, period)
    ]
  }
}
