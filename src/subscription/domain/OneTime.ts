import { DateTime, Option } from "effect"
import type { PurchaseFact } from "../../store/domain/PurchaseFact.ts"
import type { DomainEventType } from "./DomainEvent.ts"

/** What no store renews: one row of the ledger, which no subscription stands behind. */
export const isOneTime = ({ transaction }: PurchaseFact): boolean => transaction.productType !== "subscription"

/** A change of a purchase that no store renews; `slot` names it for ever, whichever statement told of it. */
export interface OneTimeChange {
  readonly type: DomainEventType
  readonly slot: string
}

/**
 * What a statement about such a purchase tells: it was completed, whatever else became of it, and may have been taken
 * back. Store A may give back and take again, and dates each; store B takes back once, and does not always say when.
 */
export const oneTimeChanges = ({
  environment,
  store,
  transaction
}: PurchaseFact): readonly [OneTimeChange, ...Array<OneTimeChange>] => {
  const place = `${store}:${environment}:${transaction.transactionId}`
  const completed = { type: "purchase.completed", slot: `purchase.completed:${place}` } as const
  return Option.match(transaction.refundedAt, {
    onNone: () => [completed],
    onSome: (moment) => [
      completed,
      {
        type: "purchase.refunded",
        slot: `purchase.refunded:${place}${store === "store_a" ? `:${DateTime.toEpochMillis(moment)}` : ""}`
      }
    ]
  })
}
