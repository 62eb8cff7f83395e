import { DateTime, Option, Order } from "effect"
import type { PurchaseFact, StoreStatus, StoreTransaction } from "../../store/domain/PurchaseFact.ts"
import { bySigning } from "./Lifecycle.ts"

interface Period {
  readonly transaction: StoreTransaction
  readonly until: DateTime.Utc
}

const byStart: Order.Order<Period> = Order.combine(
  Order.mapInput(DateTime.Order, ({ transaction }: Period) => transaction.purchaseDate),
  Order.mapInput(Order.string, ({ transaction }: Period) => transaction.transactionId)
)

const givesAccess = (status: StoreStatus): boolean =>
  status === "active" || status === "paused_pending" || status === "in_grace_period"

const promised = (fact: PurchaseFact, expiresDate: DateTime.Utc): DateTime.Utc =>
  fact.status === "in_grace_period"
    ? Option.getOrElse(
        Option.flatMap(fact.renewal, ({ gracePeriodExpiresDate }) => gracePeriodExpiresDate),
        () => expiresDate
      )
    : expiresDate

/**
 * How long one period lasted by the statements about it, oldest first: as long as the last one that gave access promised,
 * cut where later ones ended it or took it back.
 */
const lastedUntil = (statements: ReadonlyArray<PurchaseFact>, expiresDate: DateTime.Utc): DateTime.Utc => {
  let until = expiresDate
  let endedAt = Option.none<DateTime.Utc>()
  for (const statement of statements) {
    if (givesAccess(statement.status)) {
      until = promised(statement, expiresDate)
      endedAt = Option.none()
    } else {
      endedAt = Option.orElse(endedAt, () => Option.some(statement.signedAt))
    }
  }
  return earliest(until, endedAt)
}

const earliest = (moment: DateTime.Utc, ...cuts: ReadonlyArray<Option.Option<DateTime.Utc>>): DateTime.Utc =>
  cuts.reduce(
    (soonest, cut) => Option.match(cut, { onNone: () => soonest, onSome: (at) => DateTime.min(soonest, at) }),
    moment
  )

/**
 * Until when each period of a renewing subscription gave access, by transaction id: to its expiry, or through grace, and
 * no longer than to its refund, its end by the store's word, or the next period. Periods of one chain never overlap, so
 * that counting periods counts subscriptions. At any moment after the newest statement it agrees with `isActiveAt` on the
 * folded state; unlike that it also answers for the past. Purchases of other types have no coverage.
 */
export const coverage = (facts: ReadonlyArray<PurchaseFact>): ReadonlyMap<string, DateTime.Utc> => {
  const statements = new Map<string, Array<PurchaseFact>>()
  for (const fact of [...facts].sort(bySigning)) {
    const known = statements.get(fact.transaction.transactionId)
    if (known === undefined) statements.set(fact.transaction.transactionId, [fact])
    else known.push(fact)
  }
  const periods: Array<Period> = []
  for (const told of statements.values()) {
    const transaction = told.at(-1)?.transaction
    if (transaction?.productType !== "subscription" || Option.isNone(transaction.expiresDate)) continue
    const lasted = lastedUntil(told, transaction.expiresDate.value)
    periods.push({ transaction, until: earliest(lasted, transaction.refundedAt) })
  }
  periods.sort(byStart)
  return new Map(
    periods.map(({ transaction, until }, index) => {
      const next = Option.map(Option.fromNullable(periods[index + 1]), (period) => period.transaction.purchaseDate)
      return [transaction.transactionId, DateTime.max(transaction.purchaseDate, earliest(until, next))]
    })
  )
}
