import { DateTime, Option, Order } from "effect"
import type { PurchaseFact, StoreTransaction } from "../../store/domain/PurchaseFact.ts"
import { endOf } from "./Agenda.ts"
import { makeTeller } from "./Changes.ts"
import type { DomainEventType } from "./DomainEvent.ts"
import { Subscription, type SubscriptionStatus } from "./Subscription.ts"

/**
 * A change that deserves a domain event. `slot` names the change within the purchase chain, independent of which
 * statement told of it: a renewal is the slot of its transaction, a cancellation the nth of its period. One event per
 * slot is what makes events exist once, whatever order the statements arrive in.
 */
export interface Change {
  readonly type: DomainEventType
  readonly slot: string
  readonly fact: PurchaseFact
  readonly subscription: Subscription
}

export interface History {
  readonly subscription: Subscription
  readonly changes: ReadonlyArray<Change>
  readonly transactions: ReadonlyMap<string, StoreTransaction>
}

/** Statements in the order in which the store signed them; ties are broken by their id, so the order is total. */
export const bySigning: Order.Order<PurchaseFact> = Order.combine(
  Order.mapInput(DateTime.Order, (fact: PurchaseFact) => fact.signedAt),
  Order.mapInput(Order.string, (fact: PurchaseFact) => fact.factId)
)

/**
 * A planned pause shows only in the notification that it was planned, changed or withdrawn; a second one for the same
 * period withdraws it, and plain readings in between leave it.
 */
const isPausePlanned = (known: Option.Option<Subscription>, { kind, status, transaction }: PurchaseFact): boolean => {
  const wasPlanned = Option.exists(
    known,
    (subscription) =>
      subscription.status === "paused_pending" && subscription.storeTransactionId === transaction.transactionId
  )
  return status === "paused_pending" ? !wasPlanned : wasPlanned && status === "active" && kind === "observed"
}

const statusOf = (known: Option.Option<Subscription>, fact: PurchaseFact, willRenew: boolean): SubscriptionStatus => {
  if (isPausePlanned(known, fact)) return "paused_pending"
  if (fact.status !== "active" && fact.status !== "paused_pending") return fact.status
  if (Option.isSome(fact.renewal) && !willRenew) return "canceled"
  return fact.transaction.periodType === "trial" ? "trialing" : "active"
}

const speaksOfEarlierPeriod = (known: Option.Option<Subscription>, { transaction }: PurchaseFact): boolean =>
  Option.exists(
    known,
    (subscription) =>
      subscription.storeTransactionId !== transaction.transactionId &&
      DateTime.lessThan(transaction.purchaseDate, subscription.purchaseDate)
  )

/** A period that was taken back runs out in the store's words later: that gives nothing back. */
const wasTakenBack = (known: Option.Option<Subscription>, { status, transaction }: PurchaseFact): boolean =>
  Option.isSome(transaction.refundedAt) ||
  (status === "expired" &&
    Option.exists(
      known,
      (subscription) =>
        subscription.status === "revoked" && subscription.storeTransactionId === transaction.transactionId
    ))

/** The clock's word counts only while no word of the store has moved the end beyond it, or brought it already. */
const isOverruled = (known: Option.Option<Subscription>, { kind, signedAt }: PurchaseFact): boolean =>
  kind === "lapsed" && !Option.exists(Option.flatMap(known, endOf), (end) => DateTime.lessThanOrEqualTo(end, signedAt))

/** All of it comes out of values that were checked. */
const derived = { disableValidation: true }

/**
 * The state after one more statement, given the state after all earlier ones. A statement about an earlier period (the
 * refund of last year's renewal) leaves the running one alone.
 */
export const evolve = (known: Option.Option<Subscription>, fact: PurchaseFact): Subscription => {
  const { transaction } = fact
  if (Option.isSome(known) && (speaksOfEarlierPeriod(known, fact) || isOverruled(known, fact))) return known.value
  const willRenew = Option.match(fact.renewal, {
    onNone: () => Option.exists(known, (subscription) => subscription.willRenew),
    onSome: (renewal) => renewal.willRenew
  })
  const status = wasTakenBack(known, fact) ? "revoked" : statusOf(known, fact, willRenew)
  const hasEnded = status === "expired" || status === "revoked"
  const hasBillingIssue = status === "in_grace_period" || status === "in_billing_retry" || status === "on_hold"
  const since = (moment: (subscription: Subscription) => Option.Option<DateTime.Utc>) =>
    Option.orElse(Option.flatMap(known, moment), () => Option.some(fact.signedAt))
  return Subscription.make(
    {
      store: fact.store,
      environment: fact.environment,
      originalTransactionId: fact.originalTransactionId,
      storeTransactionId: transaction.transactionId,
      productIdentifier: transaction.productIdentifier,
      status,
      periodType: transaction.periodType,
      ownershipType: transaction.ownershipType,
      purchaseDate: transaction.purchaseDate,
      originalPurchaseDate: transaction.originalPurchaseDate,
      expiresDate: transaction.expiresDate,
      gracePeriodExpiresDate:
        status === "in_grace_period"
          ? Option.flatMap(fact.renewal, (renewal) => renewal.gracePeriodExpiresDate)
          : Option.none(),
      unsubscribeDetectedAt:
        Option.isSome(fact.renewal) && !willRenew
          ? since((subscription) => subscription.unsubscribeDetectedAt)
          : Option.none(),
      billingIssuesDetectedAt: hasBillingIssue
        ? since((subscription) => subscription.billingIssuesDetectedAt)
        : Option.filter(
            Option.flatMap(known, (subscription) => subscription.billingIssuesDetectedAt),
            () => status === "expired"
          ),
      refundedAt: transaction.refundedAt,
      autoResumeDate: Option.filter(
        Option.flatMap(fact.renewal, (renewal) => renewal.autoResumeDate),
        () => status === "paused"
      ),
      willRenew: willRenew && !hasEnded,
      pendingProductIdentifier: Option.filter(
        Option.flatMap(fact.renewal, (renewal) => renewal.nextProductIdentifier),
        (next) => next !== transaction.productIdentifier && !hasEnded
      ),
      priceMicros: transaction.priceMicros,
      currency: transaction.currency
    },
    derived
  )
}

/**
 * Folds every statement about one purchase chain, oldest first. The order of arrival does not matter and repeats change
 * nothing, because the fold sorts by signing time and knows each statement by its id.
 *
 * What is told of a part of the statements is told of all of them too, under the same slot. The one exception is what a
 * period is called, because that is seen from the period before it: told before all that is said of that one had come, it is
 * told as what it looks like, and what it turns out to be is told when that turns out.
 */
export const replay = (facts: readonly [PurchaseFact, ...Array<PurchaseFact>]): History => {
  const unique = [...new Map(facts.map((fact) => [fact.factId, fact])).values()].sort(bySigning)
  const transactions = new Map(unique.map(({ transaction }) => [transaction.transactionId, transaction]))
  const tell = makeTeller(facts[0].originalTransactionId, transactions.values())
  const changes: Array<Change> = []
  const counts = new Map<string, number>()
  let known = Option.none<Subscription>()
  for (const fact of unique) {
    const subscription = evolve(known, fact)
    for (const { mark, transactionId, type } of tell(fact, subscription)) {
      const place = `${type}:${transactionId}`
      const count = (counts.get(place) ?? 0) + 1
      const slot = `${place}:${Option.getOrElse(mark, () => count)}`
      if (Option.isNone(mark)) counts.set(place, count)
      if (Option.isNone(mark) || !changes.some((told) => told.slot === slot)) {
        changes.push({ type, slot, fact, subscription })
      }
    }
    known = Option.some(subscription)
  }
  return { subscription: Option.getOrElse(known, () => evolve(Option.none(), facts[0])), changes, transactions }
}
