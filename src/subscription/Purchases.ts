import { Context, Data, DateTime, Effect, Layer, Option, Schema } from "effect"
import type { AppId, TransferBehavior } from "../catalog/domain/App.ts"
import { nextId } from "../kit/Id.ts"
import { PurchaseFact } from "../store/domain/PurchaseFact.ts"
import { anonymousId, AppUserId, type Customer } from "./domain/Customer.ts"
import { Customers } from "./Customers.ts"
import { coverage } from "./domain/Coverage.ts"
import { type Change, replay } from "./domain/Lifecycle.ts"
import { Subscription, SubscriptionId } from "./domain/Subscription.ts"
import { subscriptionItem } from "./domain/SubscriberView.ts"
import { Events } from "./Events.ts"
import { isOneTime, OneTimePurchases } from "./OneTimePurchases.ts"
import { SubscriptionRepo } from "./SubscriptionRepo.ts"
import { TransactionRepo } from "./TransactionRepo.ts"

/** The purchase is another customer's, and the app keeps it there. */
export class OwnedByAnother extends Data.TaggedError("OwnedByAnother")<{}> {}

/** The purchase is an anonymous customer's, who turns out to be the claimant: the two are to be merged first. */
export class OwnedByStranger extends Data.TaggedError("OwnedByStranger")<{
  readonly stranger: AppUserId
  readonly claimant: AppUserId
}> {}

/** Who shows a purchase, and what becomes of it when it is another's. */
export interface Claim {
  readonly appUserId: AppUserId
  readonly transferBehavior: TransferBehavior
}

/**
 * Turns a store's statement into state, ledger and domain events, inside the caller's transaction. Repeats change
 * nothing; the order of arrival does not matter (contract, part 3, "Store notifications").
 */
export class Purchases extends Context.Tag("gatehouse/subscription/Purchases")<
  Purchases,
  {
    readonly apply: (appId: AppId, fact: PurchaseFact) => Effect.Effect<void>
    /** The same for somebody who proves the purchase, and to whom it belongs from now on. */
    readonly claim: (
      appId: AppId,
      fact: PurchaseFact,
      claim: Claim
    ) => Effect.Effect<void, OwnedByAnother | OwnedByStranger>
  }
>() {
  static readonly layer = Layer.effect(
    Purchases,
    Effect.gen(function* () {
      const subscriptions = yield* SubscriptionRepo
      const transactions = yield* TransactionRepo
      const customers = yield* Customers
      const events = yield* Events
      const oneTime = yield* OneTimePurchases

      const knownOf = (appId: AppId, fact: PurchaseFact) => {
        const { environment, originalTransactionId, store } = fact
        return isOneTime(fact)
          ? oneTime.known(appId, fact)
          : subscriptions.ofChain({ appId, store, environment, originalTransactionId })
      }

      const ownerNamedBy = (appId: AppId, fact: PurchaseFact): Effect.Effect<Customer> =>
        Option.match(Option.filter(fact.accountToken, Schema.is(AppUserId)), {
          onNone: () => Effect.flatMap(nextId, (unique) => customers.ensure(appId, anonymousId(unique))),
          onSome: (name) => customers.ensure(appId, name)
        })

      const chainOf = Effect.fn("Purchases.chainOf")(function* (appId: AppId, fact: PurchaseFact) {
        const known = yield* knownOf(appId, fact)
        if (Option.isSome(known)) {
          return { id: known.value.id, customer: yield* customers.byId(known.value.customerId) }
        }
        return { id: yield* nextId, customer: yield* ownerNamedBy(appId, fact) }
      })

      const transfer = Effect.fn("Purchases.transfer")(function* (
        appId: AppId,
        fact: PurchaseFact,
        chain: { readonly id: string; readonly from: Customer; readonly to: Customer }
      ) {
        const subscriptionId = isOneTime(fact) ? Option.none() : Option.some(SubscriptionId.make(chain.id))
        yield* Option.match(subscriptionId, {
          onNone: () => oneTime.moveTo(chain.id, chain.to.id),
          onSome: (id) => subscriptions.moveTo(id, chain.to.id)
        })
        yield* events.record(appId, [
          {
            cause: `customer.transferred:${yield* nextId}`,
            type: "customer.transferred",
            appUserId: chain.to.appUserId,
            store: Option.some(fact.store),
            environment: Option.some(fact.environment),
            subscriptionId,
            data: {
              from_customer_uuid: chain.from.id,
              to_customer_uuid: chain.to.id,
              subscription_uuid: Option.getOrNull(subscriptionId),
              product_identifier: fact.transaction.productIdentifier
            }
          }
        ])
      })

      const claimedChain = Effect.fn("Purchases.claimedChain")(function* (
        appId: AppId,
        fact: PurchaseFact,
        { appUserId, transferBehavior }: Claim
      ) {
        const known = yield* knownOf(appId, fact)
        const to = yield* customers.ensure(appId, appUserId)
        if (Option.isNone(known)) return { id: yield* nextId, customer: to }
        const { customerId, id } = known.value
        const from = yield* customers.byId(customerId)
        if (from.id === to.id) return { id, customer: to }
        const isErased = Option.isSome(from.erasedAt)
        if (from.isAnonymous && !isErased && !to.isAnonymous) {
          return yield* new OwnedByStranger({ stranger: from.appUserId, claimant: to.appUserId })
        }
        if (transferBehavior === "keep" && !isErased) return yield* new OwnedByAnother()
        yield* transfer(appId, fact, { id, from, to })
        return { id, customer: to }
      })

      const record = Effect.fn("Purchases.record")(function* (
        appId: AppId,
        fact: PurchaseFact,
        owner: { readonly id: string; readonly customer: Customer }
      ) {
        if (isOneTime(fact)) {
          if (Option.isSome(owner.customer.erasedAt)) yield* subscriptions.forgetWords(appId, fact)
          return yield* oneTime.record(appId, fact, owner)
        }
        const { customer } = owner
        const id = SubscriptionId.make(owner.id)
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

      return Purchases.of({
        apply: Effect.fn("Purchases.apply")(function* (appId, fact) {
          yield* subscriptions.lockChain(appId, fact)
          yield* record(appId, fact, yield* chainOf(appId, fact))
        }),
        claim: Effect.fn("Purchases.claim")(function* (appId, fact, claim) {
          yield* subscriptions.lockChain(appId, fact)
          yield* record(appId, fact, yield* claimedChain(appId, fact, claim))
        })
      })
    })
  ).pipe(Layer.provide([SubscriptionRepo.Default, TransactionRepo.Default, OneTimePurchases.layer]))
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
