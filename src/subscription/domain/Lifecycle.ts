import { DateTime, Option, Order } from "effect"
import type { PurchaseFact, StoreTransaction } from "../../store/domain/PurchaseFact.ts"
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

/**
 * The state after one more statement, given the state after all earlier ones. A statement about an earlier period (the
 * refund of last year's renewal) leaves the running one alone.
 */
export const evolve = (known: Option.Option<Subscription>, fact: PurchaseFact): Subscription => {
  const { transaction } = fact
  if (Option.isSome(known) && speaksOfEarlierPeriod(known, fact)) return known.value
  const willRenew = Option.match(fact.renewal, {
    onNone: () => Option.exists(known, (subscription) => subscription.willRenew),
    onSome: (renewal) => renewal.willRenew
  })
  const status = Option.isSome(transaction.refundedAt) ? "revoked" : statusOf(known, fact, willRenew)
  const hasBillingIssue = status === "in_grace_period" || status === "in_billing_retry" || status === "on_hold"
  const since = (moment: (subscription: Subscription) => Option.Option<DateTime.Utc>) =>
    Option.orElse(Option.flatMap(known, moment), () => Option.some(fact.signedAt))
  return Subscription.make({
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
    willRenew,
    pendingProductIdentifier: Option.filter(
      Option.flatMap(fact.renewal, (renewal) => renewal.nextProductIdentifier),
      (next) => next !== transaction.productIdentifier
    ),
    priceMicros: transaction.priceMicros,
    currency: transaction.currency
  })
}

const startOf = (known: Option.Option<Subscription>, next: Subscription, fact: PurchaseFact): DomainEventType => {
  const isTrial = next.periodType === "trial"
  if (Option.isNone(known)) {
    if (isTrial) return "subscription.trial_started"
    return fact.kind === "renewed" || fact.kind === "recovered" ? "subscription.renewed" : "subscription.started"
  }
  if (known.value.periodType === "trial" && !isTrial) return "subscription.trial_converted"
  if (known.value.hasEnded) return isTrial ? "subscription.trial_started" : "subscription.started"
  return known.value.productIdentifier === next.productIdentifier
    ? "subscription.renewed"
    : "subscription.product_changed"
}

const entered: { readonly [Status in SubscriptionStatus]?: DomainEventType } = {
  in_grace_period: "subscription.grace_period_started",
  on_hold: "subscription.on_hold",
  paused: "subscription.paused",
  paused_pending: "subscription.pause_scheduled",
  expired: "subscription.expired"
}

/**
 * What changed between two neighbouring states. The table of the lifecycle:
 *
 * | change | event |
 * |---|---|
 * | first period; period after the end | `started`, `trial_started` |
 * | next period | `renewed`, `trial_converted`, `product_changed` |
 * | renewal switched off, on again | `canceled`, `uncanceled` |
 * | payment fails; succeeds after that | `billing_issue` (and `grace_period_started`, `on_hold`), `recovered` |
 * | pause begins, ends | `paused`, `resumed` |
 * | same period, later end | `extended` |
 * | ended; taken back; given back | `expired`; `refunded`, `revoked`; `refund_reversed` |
 */
export const decide = (
  known: Option.Option<Subscription>,
  fact: PurchaseFact,
  next: Subscription
): ReadonlyArray<{ readonly type: DomainEventType; readonly once: boolean }> => {
  const periodEvents: Array<DomainEventType> = []
  const stateEvents: Array<DomainEventType> = []
  const before = Option.getOrUndefined(known)
  const isNewPeriod = before === undefined || before.storeTransactionId !== next.storeTransactionId
  if (isNewPeriod) periodEvents.push(startOf(known, next, fact))
  if (before === undefined || before.status !== next.status) {
    const event = entered[next.status]
    if (event !== undefined) stateEvents.push(event)
    if (next.status === "revoked") {
      stateEvents.push(Option.isSome(next.refundedAt) ? "subscription.refunded" : "subscription.revoked")
    }
  }
  if (Option.isSome(next.billingIssuesDetectedAt) && Option.isNone(before?.billingIssuesDetectedAt ?? Option.none())) {
    stateEvents.push("subscription.billing_issue")
  }
  if (fact.kind === "price_change") stateEvents.push("subscription.price_change")
  if (before !== undefined) {
    if (
      Option.isSome(before.billingIssuesDetectedAt) &&
      Option.isNone(next.billingIssuesDetectedAt) &&
      !next.hasEnded
    ) {
      stateEvents.push("subscription.recovered")
    }
    if (before.status === "paused" && next.status === "active") stateEvents.push("subscription.resumed")
    if (before.status === "revoked" && !isNewPeriod && next.status !== "revoked") {
      stateEvents.push("subscription.refund_reversed")
    }
    if (before.willRenew && !next.willRenew && !next.hasEnded) stateEvents.push("subscription.canceled")
    if (!before.willRenew && next.willRenew && !isNewPeriod && !before.hasEnded)
      stateEvents.push("subscription.uncanceled")
    if (!isNewPeriod && fact.kind === "extended") stateEvents.push("subscription.extended")
    if (before === next && fact.kind === "refunded") stateEvents.push("subscription.refunded")
  }
  return [...periodEvents.map((type) => ({ type, once: true })), ...stateEvents.map((type) => ({ type, once: false }))]
}

/**
 * Folds every statement about one purchase chain, oldest first. The order of arrival does not matter and repeats change
 * nothing, because the fold sorts by signing time and knows each statement by its id.
 */
export const replay = (facts: readonly [PurchaseFact, ...Array<PurchaseFact>]): History => {
  const unique = [...new Map(facts.map((fact) => [fact.factId, fact])).values()].sort(bySigning)
  const changes: Array<Change> = []
  const transactions = new Map<string, StoreTransaction>()
  const counts = new Map<string, number>()
  let known = Option.none<Subscription>()
  for (const fact of unique) {
    const next = evolve(known, fact)
    const transactionId = fact.transaction.transactionId
    for (const { once, type } of decide(known, fact, next)) {
      const place = `${type}:${transactionId}`
      const count = (counts.get(place) ?? 0) + 1
      counts.set(place, count)
      changes.push({ type, slot: once ? `period:${transactionId}` : `${place}:${count}`, fact, subscription: next })
    }
    transactions.set(transactionId, fact.transaction)
    known = Option.some(next)
  }
  return { subscription: Option.getOrElse(known, () => evolve(Option.none(), facts[0])), changes, transactions }
}
