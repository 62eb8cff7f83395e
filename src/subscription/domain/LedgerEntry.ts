import { Option } from "effect"
import type { StoreTransaction } from "../../store/domain/PurchaseFact.ts"
import { amountOrNull, momentOrNull, refundedAmount } from "./Transaction.ts"

/**
 * What a purchase comes to in the ledger. One that was taken back in part is not refunded there: it has its price and the
 * part of it that went back, and only the rest counts as kept.
 */
export const ledgerEntry = ({ currency, priceMicros, refundedAt, refundedMicros }: StoreTransaction) => ({
  priceMicros,
  currency,
  refundedAt: Option.isSome(refundedMicros) ? Option.none() : refundedAt,
  refundedMicros: Option.zipWith(refundedMicros, priceMicros, (back, price) => Math.min(back, price))
})

/** The period or item that an event is about, which may be an earlier one than the subscription's own. */
export const purchaseItem = (transaction: StoreTransaction) => ({
  store_transaction_id: transaction.transactionId,
  product_identifier: transaction.productIdentifier,
  period_type: transaction.periodType,
  purchase_date: momentOrNull(Option.some(transaction.purchaseDate)),
  expires_date: momentOrNull(transaction.expiresDate),
  refunded_at: momentOrNull(transaction.refundedAt),
  refunded_amount: refundedAmount(transaction),
  price: amountOrNull(transaction.priceMicros),
  currency: Option.getOrNull(transaction.currency)
})
