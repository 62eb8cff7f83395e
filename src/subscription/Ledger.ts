import { Context, Effect, Layer, Option } from "effect"
import type { AppId } from "../catalog/domain/App.ts"
import type { StoredSubscription } from "./domain/Access.ts"
import type { AppUserId } from "./domain/Customer.ts"
import type { SubscriptionId } from "./domain/Subscription.ts"
import type { Transaction } from "./domain/Transaction.ts"
import { SubscriptionRepo } from "./SubscriptionRepo.ts"
import { TransactionRepo } from "./TransactionRepo.ts"

export interface LedgerPage {
  readonly before: Option.Option<string>
  readonly limit: number
}

/** What the management lists of an app's business, newest first. */
export class Ledger extends Context.Tag("gatehouse/subscription/Ledger")<
  Ledger,
  {
    readonly subscriptions: (
      appId: AppId,
      page: LedgerPage
    ) => Effect.Effect<
      ReadonlyArray<{ readonly id: SubscriptionId; readonly appUserId: AppUserId; readonly state: StoredSubscription }>
    >
    readonly transactions: (appId: AppId, page: LedgerPage) => Effect.Effect<ReadonlyArray<Transaction>>
  }
>() {
  static readonly layer = Layer.effect(
    Ledger,
    Effect.gen(function* () {
      const subscriptions = yield* SubscriptionRepo
      const transactions = yield* TransactionRepo
      return Ledger.of({
        subscriptions: (appId, { before, limit }) =>
          subscriptions.page({ appId, before: Option.getOrNull(before), limit }),
        transactions: (appId, { before, limit }) =>
          transactions.page({ appId, before: Option.getOrNull(before), limit })
      })
    })
  ).pipe(Layer.provide([SubscriptionRepo.Default, TransactionRepo.Default]))
}
