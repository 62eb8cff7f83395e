import { Array, DateTime, Option } from "effect"
import type { PurchaseFact, StoreTransaction } from "../../store/domain/PurchaseFact.ts"
import { coverage } from "./Coverage.ts"
import { type Change, replay } from "./Lifecycle.ts"
import type { Subscription } from "./Subscription.ts"

/** What one more statement makes of a purchase chain. */
export interface PurchasePlan {
  readonly subscription: Subscription
  /** The period of the statement, by the newest word about it, and until when it gave access. */
  readonly transaction: StoreTransaction
  readonly coveredUntil: Option.Option<DateTime.Utc>
  /** Until when the other periods gave access, by the store's id of their transactions. */
  readonly others: ReadonlyMap<string, DateTime.Utc>
  /** What was not told of the statements before. */
  readonly changes: ReadonlyArray<Change>
}

export const planOf = (known: ReadonlyArray<PurchaseFact>, fact: PurchaseFact): PurchasePlan => {
  const history = replay([fact, ...known])
  const { transactionId } = fact.transaction
  const covered = coverage([fact, ...known])
  const told = new Set(Array.isNonEmptyReadonlyArray(known) ? replay(known).changes.map(({ slot }) => slot) : [])
  return {
    subscription: history.subscription,
    transaction: history.transactions.get(transactionId) ?? fact.transaction,
    coveredUntil: Option.fromNullable(covered.get(transactionId)),
    others: new Map([...covered].filter(([period]) => period !== transactionId)),
    changes: history.changes.filter(({ slot }) => !told.has(slot))
  }
}
