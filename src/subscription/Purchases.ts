import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import type { AppId } from "../catalog/domain/App.ts"
import { nextId } from "../kit/Id.ts"
import { PurchaseFact } from "../store/domain/PurchaseFact.ts"
import { anonymousId, AppUserId, type Customer } from "./domain/Customer.ts"
import { Customers } from "./Customers.ts"
import { coverage } from "./domain/Coverage.ts"
import { type Change, replay } from "./domain/Lifecycle.ts"
import { Subscription, SubscriptionId } from "./domain/Subscription.ts"
import { subscriptionItem } from "./domain/SubscriberView.ts"
import { Events } from "./Events.ts"
import { SubscriptionRepo } from "./SubscriptionRepo.ts"
import { TransactionRepo } from "./TransactionRepo.ts"

/**
 * Turns a store's statement into state, ledger and domain events, inside the caller's transaction. Repeats change
 * nothing; the order of arrival does not matter (contract, part 3, "Store notifications").
 */
export class Purchases extends Context.Tag("gatehouse/subscription/Purchases")<
  Purchases,
  { readonly apply: (appId: AppId, fact: PurchaseFact) => Effect.Effect<void> }
>() {
  static readonly layer = Layer.effect(
    Purchases,
    Effect.gen(function* () {
      const subscriptions = yield* SubscriptionRepo
      const transactions = yield* TransactionRepo
      const customers = yield* Customers
      const events = yield* Events

      const ownerNamedBy = (appId: AppId, fact: PurchaseFact): Effect.Effect<Customer> =>
        Option.match(Option.filter(fact.accountToken, Schema.is(AppUserId)), {
          onNone: () => Effect.flatMap(nextId, (unique) => customers.ensure(appId, anonymousId(unique))),
          onSome: (name) => customers.ensure(appId, name)
        })

      const chainOf = Effect.fn("Purchases.chainOf")(function* (appId: AppId, fact: PurchaseFact) {
        const { environment, originalTransactionId, store } = fact
        const known = yield* subscriptions.ofChain({ appId, store, environment, originalTransactionId })
        if (Option.isSome(known)) {
          return { id: known.value.id, customer: yield* customers.byId(known.value.customerId) }
        }
        return { id: SubscriptionId.make(yield* nextId), customer: yield* ownerNamedBy(appId, fact) }
      })

      const apply = Effect.fn("Purchases.apply")(function* (appId: AppId, fact: PurchaseFact) {
        yield* subscriptions.lockChain(appId, fact)
        const { customer, id } = yield* chainOf(appId, fact)
        const now = yield* DateTime.now
        const known = yield* subscriptions.facts(id)
        const history = replay([fact, ...known.map((row) => row.fact)])
        yield* subscriptions.save({ id, appId, customerId: customer.id, state: history.subscription, now })
        const isErased = Option.isSome(customer.erasedAt)
        const isNew = yield* subscriptions.insertFact(id, isErased ? unnamed(fact) : fact)
        if (!isNew) return
        if (isErased) yield* subscriptions.forgetWords(appId, fact)
        yield* transactions.upsert({
          id: yield* nextId,
          appId,
          customerId: customer.id,
          subscriptionId: id,
          fact,
          transaction: history.transactions.get(fact.transaction.transactionId) ?? fact.transaction,
          now
        })
        yield* transactions.cover(id, coverage([fact, ...known.map((row) => row.fact)]))
        yield* events.record(
          appId,
          history.changes.map((change) => eventOf(change, id, customer, now))
        )
      })

      return Purchases.of({ apply })
    })
  ).pipe(Layer.provide([SubscriptionRepo.Default, TransactionRepo.Default]))
}

const encode = Schema.encodeSync(Subscription)

/** What a store says of a purchase whose person was erased is kept without the person. */
const unnamed = (fact: PurchaseFact): PurchaseFact => PurchaseFact.make({ ...fact, accountToken: Option.none() })

const eventOf = (change: Change, id: SubscriptionId, customer: Customer, now: DateTime.Utc) => ({
  cause: `${id}:${change.slot}`,
  type: change.type,
  appUserId: customer.appUserId,
  store: Option.some(change.subscription.store),
  environment: Option.some(change.subscription.environment),
  subscriptionId: Option.some(id),
  data: {
    product_identifier: change.subscription.productIdentifier,
    ...subscriptionItem(id, encode(change.subscription), DateTime.formatIso(now))
  }
})
