import { Context, Data, DateTime, Effect, Layer, Option, Schema } from "effect"
import type { AppId, TransferBehavior } from "../catalog/domain/App.ts"
import { nextId } from "../kit/Id.ts"
import type { PurchaseFact } from "../store/domain/PurchaseFact.ts"
import { anonymousId, AppUserId, type Customer } from "./domain/Customer.ts"
import { Customers, firstSight } from "./Customers.ts"
import { worthOf } from "./domain/Observations.ts"
import { isOneTime } from "./domain/OneTime.ts"
import { SubscriptionId } from "./domain/Subscription.ts"
import { Events } from "./Events.ts"
import { OneTimePurchases } from "./OneTimePurchases.ts"
import { PurchaseRepo } from "./PurchaseRepo.ts"
import { type Arrival, PurchaseWriter, unnamed } from "./PurchaseWriter.ts"
import { SubscriptionRepo } from "./SubscriptionRepo.ts"

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
 * How a statement went at once: it is applied; or with nothing done, because there is more to it (it came before, changes
 * nothing, concerns somebody erased), or because what it rests on was changed in the meantime.
 */
export type Course = "applied" | "special" | "changed"

/**
 * Turns a store's statement into state, ledger and domain events, inside the caller's transaction. Repeats change
 * nothing; the order of arrival does not matter (contract, part 3, "Store notifications").
 */
export class Purchases extends Context.Tag("gatehouse/subscription/Purchases")<
  Purchases,
  {
    /** Nobody else applies a statement about the same purchase until the transaction ends. */
    readonly hold: (appId: AppId, fact: PurchaseFact) => Effect.Effect<void>
    readonly apply: (appId: AppId, fact: PurchaseFact) => Effect.Effect<void>
    /**
     * Keeps a notification and applies its statement at once, if it is for that app and the app is not archived. It may
     * also die on what others do at the same time.
     */
    readonly accept: (appId: AppId, fact: PurchaseFact, arrival: Arrival) => Effect.Effect<Course>
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
      const purchases = yield* PurchaseRepo
      const writer = yield* PurchaseWriter
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
        Option.match(nameIn(fact), {
          onNone: () => Effect.flatMap(nextId, (unique) => customers.ensure(appId, anonymousId(unique))),
          onSome: (name) => customers.ensure(appId, name)
        })

      const chainOf = Effect.fn("Purchases.chainOf")(function* (appId: AppId, fact: PurchaseFact) {
        const known = yield* knownOf(appId, fact)
        if (Option.isSome(known)) {
          return { id: known.value.id, isNew: false, customer: yield* customers.byId(known.value.customerId) }
        }
        return { id: yield* nextId, isNew: true, customer: yield* ownerNamedBy(appId, fact) }
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
        if (Option.isNone(known)) return { id: yield* nextId, isNew: true, customer: to }
        const { customerId, id } = known.value
        const from = yield* customers.byId(customerId)
        if (from.id === to.id) return { id, isNew: false, customer: to }
        const isErased = Option.isSome(from.erasedAt)
        if (from.isAnonymous && !isErased && !to.isAnonymous) {
          return yield* new OwnedByStranger({ stranger: from.appUserId, claimant: to.appUserId })
        }
        if (transferBehavior === "keep" && !isErased) return yield* new OwnedByAnother()
        yield* transfer(appId, fact, { id, from, to })
        return { id, isNew: false, customer: to }
      })

      const record = Effect.fn("Purchases.record")(function* (
        appId: AppId,
        fact: PurchaseFact,
        owner: { readonly id: string; readonly isNew: boolean; readonly customer: Customer }
      ) {
        if (isOneTime(fact)) {
          if (Option.isSome(owner.customer.erasedAt)) yield* subscriptions.forgetWords(appId, fact)
          return yield* oneTime.record(appId, fact, owner)
        }
        const id = SubscriptionId.make(owner.id)
        const known = (yield* subscriptions.facts(id)).map((row) => row.fact)
        const { customer } = owner
        const isErased = Option.isSome(customer.erasedAt)
        const worth = worthOf(known, fact)
        if (worth._tag === "Drop") return
        if (worth._tag === "Replace") {
          return yield* subscriptions.replaceFact(id, worth.factId, isErased ? unnamed(fact) : fact)
        }
        if (worth._tag === "Keep") return yield* subscriptions.insertFact(id, isErased ? unnamed(fact) : fact)
        const { appUserId } = customer
        const whole = {
          owner: { id: customer.id, appUserId, isErased },
          newcomer: Option.none(),
          arrival: Option.none()
        }
        const isWritten = yield* writer.write({
          ...{ ...whole, appId, subscriptionId: id, isNew: owner.isNew, known, fact, isHeard: true }
        })
        if (!isWritten) return yield* Effect.dieMessage("a purchase changed under its lock")
        if (isErased) yield* subscriptions.forgetWords(appId, fact)
      })

      /**
       * The way of almost every statement: of a chain and a customer that one look shows or, with a notification, of new
       * ones.
       */
      const swift = Effect.fnUntraced(function* (appId: AppId, fact: PurchaseFact, arrival: Option.Option<Arrival>) {
        if (isOneTime(fact)) return "special"
        const { environment, originalTransactionId, store } = fact
        const name = nameIn(fact)
        const seen = yield* purchases.look({
          ...{ appId, store, environment, originalTransactionId },
          appUserId: Option.getOrNull(name),
          bundleId: Option.getOrNull(Option.map(arrival, ({ bundleId }) => bundleId))
        })
        if (!seen.isOurs || seen.isErased || worthOf(seen.facts, fact)._tag !== "Apply") return "special"
        const isNew = Option.isNone(seen.subscriptionId)
        const known = Option.all({ id: seen.customerId, appUserId: seen.appUserId })
        const mayCome = Option.isNone(known) && isNew && Option.isSome(arrival)
        const newcomer = mayCome ? Option.some(yield* stranger(name)) : Option.none()
        const owner = Option.orElse(known, () => newcomer)
        if (Option.isNone(owner)) return "special"
        const subscriptionId = yield* Option.match(seen.subscriptionId, {
          onNone: () => Effect.map(nextId, (unique) => SubscriptionId.make(unique, derived)),
          onSome: Effect.succeed
        })
        const { appUserId, id } = owner.value
        const whole = { owner: { id, appUserId, isErased: false }, newcomer, arrival, isNew, isHeard: seen.isHeard }
        const isWritten = yield* writer.write({ ...whole, appId, subscriptionId, known: seen.facts, fact })
        return isWritten ? "applied" : "changed"
      })

      return Purchases.of({
        hold: subscriptions.lockChain,
        accept: (appId, fact, arrival) => swift(appId, fact, Option.some(arrival)),
        apply: Effect.fn("Purchases.apply")(function* (appId, fact) {
          yield* subscriptions.lockChain(appId, fact)
          if ((yield* swift(appId, fact, Option.none())) === "applied") return
          yield* record(appId, fact, yield* chainOf(appId, fact))
        }),
        claim: Effect.fn("Purchases.claim")(function* (appId, fact, claim) {
          yield* subscriptions.lockChain(appId, fact)
          yield* record(appId, fact, yield* claimedChain(appId, fact, claim))
        })
      })
    })
  ).pipe(Layer.provide([SubscriptionRepo.Default, PurchaseRepo.Default, PurchaseWriter.layer, OneTimePurchases.layer]))
}

/** A new id needs no check. */
const derived = { disableValidation: true }

/** The customer whom the purchase itself names. */
const nameIn = ({ accountToken }: PurchaseFact): Option.Option<AppUserId> => Option.filter(accountToken, isName)

const isName = Schema.is(AppUserId)

const stranger = (name: Option.Option<AppUserId>): Effect.Effect<Customer> =>
  Effect.zipWith(nextId, DateTime.now, (id, now) =>
    firstSight(
      id,
      Option.getOrElse(name, () => anonymousId(id)),
      now
    )
  )
