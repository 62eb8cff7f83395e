import { Context, Data, DateTime, Duration, Effect, Layer, Option } from "effect"
import type { AppId } from "../catalog/domain/App.ts"
import { nextId } from "../kit/Id.ts"
import { Outbox } from "../webhook/Outbox.ts"
import { CustomerListRepo } from "./CustomerListRepo.ts"
import { CustomerRepo } from "./CustomerRepo.ts"
import { type AppUserId, Customer, CustomerId, isAnonymous } from "./domain/Customer.ts"
import type { ListedCustomer } from "./domain/ListedCustomer.ts"
import { subscriberOf, type SubscriberView } from "./domain/SubscriberView.ts"
import { Events, type NewEvent } from "./Events.ts"
import { SubscriberReader } from "./SubscriberReader.ts"

/** `last_seen` is as exact as this: every read writing it would make reads as dear as writes. */
const seenPrecision = Duration.minutes(15)

/** Whether a sighting is recent enough to need no new note. */
export const isFresh = (lastSeen: DateTime.Utc, now: DateTime.Utc): boolean =>
  DateTime.greaterThan(DateTime.addDuration(lastSeen, seenPrecision), now)

/** The app has no customer of that name, or erased the one it had. */
export class CustomerNotFound extends Data.TaggedError("CustomerNotFound")<{}> {}
/** The app has a customer to whom that name leads. */
export class CustomerExists extends Data.TaggedError("CustomerExists")<{}> {}

/** Customers of an app and what they may use (subscription management, part 2, "Subscriber"; contract, part 3). */
export class Customers extends Context.Tag("gatehouse/subscription/Customers")<
  Customers,
  {
    readonly create: (appId: AppId, appUserId: AppUserId) => Effect.Effect<Customer, CustomerExists>
    /**
     * The customer to whom that name leads, created (with its event) when the app has none: joins the caller's
     * transaction, until whose end nobody merges or erases the customer.
     */
    readonly ensure: (appId: AppId, appUserId: AppUserId) => Effect.Effect<Customer>
    /** The customer of that id, or the one it was merged into; held like `ensure` does. */
    readonly byId: (id: CustomerId) => Effect.Effect<Customer>
    /** A client's read: creates the customer the first time and notes that it was seen. */
    readonly seen: (appId: AppId, appUserId: AppUserId) => Effect.Effect<SubscriberView>
    /** The management's read: leaves no trace. */
    readonly subscriber: (appId: AppId, appUserId: AppUserId) => Effect.Effect<SubscriberView, CustomerNotFound>
    /** Newest first, merged and erased ones left out. `search`: how the name, or a merged one, begins, in any case. */
    readonly page: (
      appId: AppId,
      page: {
        readonly search: Option.Option<string>
        readonly before: Option.Option<string>
        readonly limit: number
      }
    ) => Effect.Effect<ReadonlyArray<ListedCustomer>>
  }
>() {
  static readonly layer = Layer.effect(
    Customers,
    Effect.gen(function* () {
      const customers = yield* CustomerRepo
      const list = yield* CustomerListRepo
      const reader = yield* SubscriberReader
      const events = yield* Events
      const outbox = yield* Outbox

      const add = Effect.fn("Customers.add")(
        function* (appId: AppId, appUserId: AppUserId) {
          const now = yield* DateTime.now
          const customer = firstSight(yield* nextId, appUserId, now)
          const isNew = yield* customers.insert(appId, customer)
          if (!isNew) return Option.none()
          yield* events.record(appId, [arrivalOf(customer)])
          return Option.some(customer)
        },
        outbox.transaction,
        Effect.orDie
      )

      const create = Effect.fn("Customers.create")(function* (appId: AppId, appUserId: AppUserId) {
        const added = yield* add(appId, appUserId)
        return yield* Option.match(added, { onNone: () => new CustomerExists(), onSome: Effect.succeed })
      })

      const ensure = Effect.fn("Customers.ensure")(function* (appId: AppId, appUserId: AppUserId) {
        const find = customers.held({ appId, appUserId })
        const known = yield* Effect.flatMap(
          find,
          Option.match({ onNone: () => add(appId, appUserId), onSome: Effect.succeedSome })
        )
        if (Option.isSome(known)) return known.value
        return yield* Effect.flatMap(find, Effect.orDie)
      })

      const subscriber = Effect.fn("Customers.subscriber")(function* (appId: AppId, appUserId: AppUserId) {
        const found = yield* reader.read({ appId }, appUserId)
        if (Option.isNone(found)) return yield* new CustomerNotFound()
        return found.value.view
      })

      const seen = Effect.fn("Customers.seen")(function* (appId: AppId, appUserId: AppUserId) {
        const found = yield* reader.read({ appId }, appUserId)
        const now = yield* DateTime.now
        if (Option.isNone(found)) return newcomer(yield* ensure(appId, appUserId), now)
        const { customerId, lastSeen, view } = found.value
        if (!isFresh(lastSeen, now)) yield* customers.touch(customerId, DateTime.toDateUtc(now))
        return view
      })

      return Customers.of({
        create,
        ensure,
        byId: customers.heldById,
        seen,
        subscriber,
        page: (appId, { before, limit, search }) =>
          list.page({ appId, search: Option.getOrNull(search), before: Option.getOrNull(before), limit })
      })
    })
  ).pipe(Layer.provide([CustomerRepo.Default, CustomerListRepo.Default]))
}

/** One who was never seen before. */
export const firstSight = (id: string, appUserId: AppUserId, now: DateTime.Utc): Customer =>
  Customer.make(
    {
      id: CustomerId.make(id, derived),
      appUserId,
      originalAppUserId: Option.none(),
      isAnonymous: isAnonymous(appUserId),
      firstSeen: now,
      lastSeen: now,
      erasedAt: Option.none()
    },
    derived
  )

/** A name that was checked, and a new id. */
const derived = { disableValidation: true }

export const arrivalOf = ({ appUserId, id, isAnonymous }: Customer): NewEvent => ({
  cause: `customer.created:${id}`,
  type: "customer.created",
  appUserId,
  store: Option.none(),
  environment: Option.none(),
  subscriptionId: Option.none(),
  data: { app_user_id: appUserId, is_anonymous: isAnonymous }
})

/** The view of one who has nothing yet. */
const newcomer = (customer: Customer, now: DateTime.Utc): SubscriberView =>
  subscriberOf(
    {
      appUserId: customer.appUserId,
      originalAppUserId: null,
      isAnonymous: customer.isAnonymous,
      firstSeen: DateTime.formatIso(customer.firstSeen),
      lastSeen: DateTime.formatIso(customer.lastSeen),
      aliases: []
    },
    { subscriptions: [], purchases: [], grants: [] },
    DateTime.formatIso(now)
  )
