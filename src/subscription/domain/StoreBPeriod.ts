import { DateTime, Duration, Option } from "effect"
import { PurchaseFact, StoreTransaction } from "../../store/domain/PurchaseFact.ts"

/** What is remembered of an order whose period began. */
export interface BegunPeriod {
  readonly orderId: Option.Option<string>
  readonly periodStartedAt: Option.Option<DateTime.Utc>
}

/** A moment of reading: never before an earlier one, whatever the clocks of two processes say. */
export const readingAfter = (readAt: DateTime.Utc, last: Option.Option<DateTime.Utc>): DateTime.Utc =>
  Option.match(last, {
    onNone: () => readAt,
    onSome: (before) => DateTime.max(readAt, DateTime.addDuration(before, Duration.millis(1)))
  })

/**
 * A plan that is to change at the end of the period is bought by a purchase of its own, whose first order nothing is paid
 * for: until that end the period of the replaced purchase goes on, and the statement is about it.
 */
export const goingOn = (
  fact: PurchaseFact,
  known: Option.Option<BegunPeriod>,
  replaced: Option.Option<BegunPeriod>
): PurchaseFact => {
  const begun = Option.flatMap(known, ({ orderId }) => orderId)
  const isAwaited =
    Option.contains(fact.transaction.reason, "purchase") &&
    Option.exists(fact.renewal, ({ nextProductIdentifier }) => Option.isSome(nextProductIdentifier))
  return Option.flatMap(replaced, ({ orderId }) => orderId).pipe(
    Option.filter((orderId) => isAwaited && Option.getOrElse(begun, () => orderId) === orderId),
    Option.match({
      onNone: () => fact,
      onSome: (transactionId) =>
        PurchaseFact.make({ ...fact, transaction: StoreTransaction.make({ ...fact.transaction, transactionId }) })
    })
  )
}

/**
 * When the period of an order began. The store does not say, so that its driver's estimate counts only the first time an
 * order is seen, and not beyond that moment; from then on it stays. A period begins after the one before it, over a
 * replacement too.
 */
export const periodStart = (
  { purchaseDate, transactionId }: Pick<StoreTransaction, "purchaseDate" | "transactionId">,
  readAt: DateTime.Utc,
  known: Option.Option<BegunPeriod>,
  replaced: Option.Option<BegunPeriod>
): DateTime.Utc => {
  const begun = Option.flatMap(known, ({ orderId, periodStartedAt }) => Option.all({ orderId, periodStartedAt }))
  if (Option.isSome(begun) && begun.value.orderId === transactionId) return begun.value.periodStartedAt
  const goesOn = Option.filter(replaced, ({ orderId }) => Option.contains(orderId, transactionId))
  if (Option.isSome(goesOn) && Option.isSome(goesOn.value.periodStartedAt)) return goesOn.value.periodStartedAt.value
  const last = Option.orElse(
    Option.map(begun, ({ periodStartedAt }) => periodStartedAt),
    () => Option.flatMap(replaced, ({ periodStartedAt }) => periodStartedAt)
  )
  return readingAfter(DateTime.min(purchaseDate, readAt), last)
}
