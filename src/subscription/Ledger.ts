import { Context, Effect, Layer } from "effect"
import type { Transaction } from "./domain/Transaction.ts"
import { type ListedSubscription, type SubscriptionQuery, SubscriptionRepo } from "./SubscriptionRepo.ts"
import { type TransactionQuery, TransactionListRepo } from "./TransactionListRepo.ts"

/** What the management lists of an app's business, newest first. A filter that is null lets everything through. */
export class Ledger extends Context.Tag("gatehouse/subscription/Ledger")<
  Ledger,
  {
    readonly subscriptions: (query: SubscriptionQuery) => Effect.Effect<ReadonlyArray<ListedSubscription>>
    /** `from` (included) and `to` (not included) bound the purchase date. */
    readonly transactions: (query: TransactionQuery) => Effect.Effect<ReadonlyArray<Transaction>>
  }
>() {
  static readonly layer = Layer.effect(
    Ledger,
    Effect.gen(function* () {
      const subscriptions = yield* SubscriptionRepo
      const transactions = yield* TransactionListRepo
      return Ledger.of({ subscriptions: subscriptions.page, transactions: transactions.page })
    })
  ).pipe(Layer.provide([SubscriptionRepo.Default, TransactionListRepo.Default]))
}
