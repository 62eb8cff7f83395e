import { DateTime, Duration, Option } from "effect"
import type { StoreTransaction } from "../../store/domain/PurchaseFact.ts"

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
  const last = Option.orElse(
    Option.map(begun, ({ periodStartedAt }) => periodStartedAt),
    () => Option.flatMap(replaced, ({ periodStartedAt }) => periodStartedAt)
  )
  return readingAfter(DateTime.min(purchaseDate, readAt), last)
}
