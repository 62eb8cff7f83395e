import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import type { AppId } from "../catalog/domain/App.ts"
import { nextId } from "../kit/Id.ts"
import { PurchaseFact } from "../store/domain/PurchaseFact.ts"
import { Outbox } from "../webhook/Outbox.ts"
import { arrivalOf } from "./Customers.ts"
import type { Customer } from "./domain/Customer.ts"
import type { InboxEntry } from "./domain/Inbox.ts"
import { purchaseItem } from "./domain/LedgerEntry.ts"
import type { Change } from "./domain/Lifecycle.ts"
import { planOf } from "./domain/PurchasePlan.ts"
import { Subscription, type SubscriptionId } from "./domain/Subscription.ts"
import { subscriptionItem } from "./domain/SubscriberView.ts"
import { Events, type NewEvent } from "./Events.ts"
import { PurchaseRepo } from "./PurchaseRepo.ts"
import { customerRow, eventRow, factRow, notificationRow, subscriptionRow, transactionRow } from "./PurchaseRows.ts"

/** A notification that nobody has kept yet, with the store's signed words, and the bundle id of the app that it is for. */
export interface Arrival {
  readonly entry: InboxEntry
  readonly bundleId: string
  readonly payload: string
}

/** A statement that is worth applying, and whom it concerns. */
export interface Application {
  readonly appId: AppId
  readonly subscriptionId: SubscriptionId
  readonly owner: Pick<Customer, "id" | "appUserId"> & { readonly isErased: boolean }
  /** Whether the chain is; if not, `known` are all statements about it. */
  readonly isNew: boolean
  readonly known: ReadonlyArray<PurchaseFact>
  readonly fact: PurchaseFact
  /** Whether anybody is to be told. */
  readonly isHeard: boolean
  /** To be written along with it: the owner, when nobody has seen it before, and the notification. */
  readonly newcomer: Option.Option<Customer>
  readonly arrival: Option.Option<Arrival>
}

/**
 * Writes what a statement about a renewing purchase changes: state, ledger and domain events in one statement, with the
 * deliveries in one transaction. False, with nothing written, when the chain or its owner changed in the meantime.
 */
export class PurchaseWriter extends Context.Tag("gatehouse/subscription/PurchaseWriter")<
  PurchaseWriter,
  { readonly write: (application: Application) => Effect.Effect<boolean> }
>() {
  static readonly layer = Layer.effect(
    PurchaseWriter,
    Effect.gen(function* () {
      const repo = yield* PurchaseRepo
      const outbox = yield* Outbox
      const events = yield* Events

      const write = Effect.fnUntraced(function* (application: Application) {
        const { appId, arrival, fact, isHeard, known, newcomer, owner, subscriptionId } = application
        const { environment, originalTransactionId, store } = fact
        const now = yield* DateTime.now
        const plan = planOf(known, fact)
        const place = { appId, customerId: owner.id, subscriptionId, now }
        const state = encode(plan.subscription)
        const stateOf = (of: Subscription) => (of === plan.subscription ? state : encode(of))
        const drafts = yield* events.draft([
          ...Option.toArray(Option.map(newcomer, arrivalOf)),
          ...plan.changes.map((change) => eventOf(change, stateOf(change.subscription), application, now))
        ])
        const basis = {
          ...{ appId, store, environment, originalTransactionId, subscriptionId },
          isNew: application.isNew,
          facts: known.map(({ factId }) => factId),
          customerId: Option.isSome(newcomer) ? null : owner.id,
          isErased: owner.isErased,
          notificationId: Option.getOrNull(Option.map(arrival, ({ entry }) => entry.notificationId))
        }
        const rows = {
          store_notifications: Option.toArray(arrival).map(({ entry, payload }) =>
            notificationRow(appId, entry, payload)
          ),
          customers: Option.toArray(newcomer).map((customer) => customerRow(appId, customer)),
          subscriptions: [subscriptionRow(place, plan.subscription, state)],
          store_facts: [factRow(subscriptionId, owner.isErased ? unnamed(fact) : fact)],
          transactions: [transactionRow(place, yield* nextId, plan)],
          domain_events: drafts.map(({ cause, event }) => eventRow(appId, cause, event))
        }
        const written = repo.write(basis, rows, plan.others)
        if (!isHeard) return Option.isSome(yield* written)
        const told = Effect.flatMap(
          written,
          Option.match({
            onNone: () => Effect.succeed(false),
            onSome: (made) =>
              Effect.as(
                events.tell(
                  appId,
                  drafts.flatMap(({ event }) => (made.has(event.id) ? [event] : []))
                ),
                true
              )
          })
        )
        return yield* Effect.orDie(outbox.transaction(told))
      })

      return PurchaseWriter.of({ write })
    })
  ).pipe(Layer.provide(PurchaseRepo.Default))
}

const encode = Schema.encodeSync(Subscription)

/** What a store says of a purchase whose person was erased is kept without the person. */
export const unnamed = (fact: PurchaseFact): PurchaseFact => PurchaseFact.make({ ...fact, accountToken: Option.none() })

const eventOf = (
  change: Change,
  state: typeof Subscription.Encoded,
  { owner, subscriptionId }: Application,
  now: DateTime.Utc
): NewEvent => ({
  cause: `${subscriptionId}:${change.slot}`,
  type: change.type,
  appUserId: owner.appUserId,
  store: Option.some(change.subscription.store),
  environment: Option.some(change.subscription.environment),
  subscriptionId: Option.some(subscriptionId),
  data: {
    product_identifier: change.subscription.productIdentifier,
    ...subscriptionItem(subscriptionId, state, DateTime.formatIso(now)),
    transaction: purchaseItem(change.fact.transaction)
  }
})
