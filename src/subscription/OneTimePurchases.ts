import { Context, DateTime, Effect, Layer, Option } from "effect"
import type { AppId } from "../catalog/domain/App.ts"
import type { PurchaseFact } from "../store/domain/PurchaseFact.ts"
import type { Customer, CustomerId } from "./domain/Customer.ts"
import { ledgerEntry, purchaseItem } from "./domain/LedgerEntry.ts"
import { oneTimeChanges } from "./domain/OneTime.ts"
import { Transaction, transactionItem } from "./domain/Transaction.ts"
import { Events, type NewEvent } from "./Events.ts"
import { TransactionRepo } from "./TransactionRepo.ts"

/** The ledger of one-time purchases, inside the caller's transaction and its lock on the purchase. */
export class OneTimePurchases extends Context.Tag("gatehouse/subscription/OneTimePurchases")<
  OneTimePurchases,
  {
    readonly known: (
      appId: AppId,
      fact: PurchaseFact
    ) => Effect.Effect<Option.Option<{ readonly id: string; readonly customerId: CustomerId }>>
    readonly moveTo: (id: string, customerId: CustomerId) => Effect.Effect<void>
    /** Repeats change nothing; `purchase.completed` is told once, `purchase.refunded` once for each refund. */
    readonly record: (
      appId: AppId,
      fact: PurchaseFact,
      owner: { readonly id: string; readonly customer: Customer }
    ) => Effect.Effect<void>
  }
>() {
  static readonly layer = Layer.effect(
    OneTimePurchases,
    Effect.gen(function* () {
      const transactions = yield* TransactionRepo
      const events = yield* Events

      const record = Effect.fn("OneTimePurchases.record")(function* (
        appId: AppId,
        fact: PurchaseFact,
        { customer, id }: { readonly id: string; readonly customer: Customer }
      ) {
        const now = yield* DateTime.now
        const transaction = transactionOf(fact, id, customer)
        yield* transactions.saveOnce({ appId, customerId: customer.id, transaction, signedAt: fact.signedAt, now })
        yield* events.record(appId, eventsOf(fact, transaction))
      })

      return OneTimePurchases.of({
        known: (appId, { environment, store, transaction }) =>
          transactions.once({ appId, store, environment, storeTransactionId: transaction.transactionId }),
        moveTo: transactions.moveTo,
        record
      })
    })
  ).pipe(Layer.provide(TransactionRepo.Default))
}

const transactionOf = (fact: PurchaseFact, id: string, customer: Customer): Transaction =>
  Transaction.make({
    id,
    appUserId: customer.appUserId,
    subscriptionId: Option.none(),
    store: fact.store,
    environment: fact.environment,
    storeTransactionId: fact.transaction.transactionId,
    originalTransactionId: fact.originalTransactionId,
    productIdentifier: fact.transaction.productIdentifier,
    periodType: fact.transaction.periodType,
    ownershipType: fact.transaction.ownershipType,
    purchaseDate: fact.transaction.purchaseDate,
    expiresDate: fact.transaction.expiresDate,
    ...ledgerEntry(fact.transaction)
  })

const eventsOf = (fact: PurchaseFact, transaction: Transaction): ReadonlyArray<NewEvent> =>
  oneTimeChanges(fact).map(({ slot, type }) => ({
    cause: slot,
    type,
    appUserId: transaction.appUserId,
    store: Option.some(fact.store),
    environment: Option.some(fact.environment),
    subscriptionId: Option.none(),
    data: { ...transactionItem(transaction), transaction: purchaseItem(fact.transaction) }
  }))
