import { Option } from "effect"
import { fromMicros } from "../../catalog/domain/Money.ts"
import type { StoreTransaction } from "../../store/domain/PurchaseFact.ts"
import { momentOrNull } from "./Transaction.ts"

/**
 * What a purchase comes to in the ledger. Of one that was taken back in part the rest was paid for good: it stands there
 * as if that were its price, so that every sum over the ledger is of money that was kept.
 */
export const ledgerEntry = ({ currency, priceMicros, refundedAt, refundedMicros }: StoreTransaction) =>
  Option.match(refundedMicros, {
    onNone: () => ({ priceMicros, currency, refundedAt }),
    onSome: (back) => ({
      priceMicros: Option.map(priceMicros, (price) => Math.max(0, price - back)),
      currency,
      refundedAt: Option.none()
    })
  })

const amountOrNull = (micros: Option.Option<number>) => Option.getOrNull(Option.map(micros, fromMicros))

/** The period or item that an event is about, which may be an earlier one than the subscription's own. */
export const purchaseItem = (transaction: StoreTransaction) => ({
  store_transaction_id: transaction.transactionId,
  product_identifier: transaction.productIdentifier,
  period_type: transaction.periodType,
  purchase_date: momentOrNull(Option.some(transaction.purchaseDate)),
  expires_date: momentOrNull(transaction.expiresDate),
  refunded_at: momentOrNull(transaction.refundedAt),
  refunded_amount: amountOrNull(
    Option.orElse(transaction.refundedMicros, () => Option.zipRight(transaction.refundedAt, transaction.priceMicros))
  ),
  price: amountOrNull(transaction.priceMicros),
  currency: Option.getOrNull(transaction.currency)
})
