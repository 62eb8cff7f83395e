import { Context, DateTime, Duration, Effect, Layer, Option, Schema } from "effect"
import type { AppId } from "../catalog/domain/App.ts"
import { nextId } from "../kit/Id.ts"
import { Outbox } from "../webhook/Outbox.ts"
import { CustomerRepo } from "./CustomerRepo.ts"
import { type AppUserId, Customer, CustomerId, isAnonymous } from "./domain/Customer.ts"
import { subscriberOf, type SubscriberView } from "./domain/SubscriberView.ts"
import { Events } from "./Events.ts"
import { SubscriberReader } from "./SubscriberReader.ts"

/** `last_seen` is as exact as this: every read writing it would make reads as dear as writes. */
const seenPrecision = Duration.minutes(15)

/** Whether a sighting is recent enough to need no new note. */
export const isFresh = (lastSeen: DateTime.Utc, now: DateTime.Utc): boolean =>
  DateTime.greaterThan(DateTime.addDuration(lastSeen, seenPrecision), now)

/** Customers of an app and what they may use (subscription management, part 2, "Subscriber"; contract, part 3). */
export class Customers extends Context.Tag("gatehouse/subscription/Customers")<
  Customers,
  {
    /** The customer of that name, created (with its event) when the app has none: joins the caller's transaction. */
    readonly ensure: (appId: AppId, appUserId: AppUserId) => Effect.Effect<Customer>
    readonly byId: (id: CustomerId) => Effect.Effect<Customer>
    /** A client's read: creates the customer the first time and notes that it was seen. */
    readonly seen: (appId: AppId, appUserId: AppUserId) => Effect.Effect<SubscriberView>
    /** The management's read: leaves no trace. */
    readonly subscriber: (appId: AppId, appUserId: AppUserId) => Effect.Effect<Option.Option<SubscriberView>>
  }
>() {
  static readonly layer = Layer.effect(
    Customers,
    Effect.gen(function* () {
      const customers = yield* CustomerRepo
      const reader = yield* SubscriberReader
      const events = yield* Events
      const outbox = yield* Outbox

      const create = Effect.fn("Customers.create")(
        function* (appId: AppId, appUserId: AppUserId) {
          const now = yield* DateTime.now
          const customer = Customer.make({
            id: CustomerId.make(yield* nextId),
            appUserId,
            isAnonymous: isAnonymous(appUserId),
            firstSeen: now,
            lastSeen: now
          })
          const isNew = yield* customers.insert(appId, customer)
          if (!isNew) return Option.none()
          yield* events.record(appId, [
            {
              cause: `customer.created:${customer.id}`,
              type: "customer.created",
              appUserId,
              store: Option.none(),
              environment: Option.none(),
              subscriptionId: Option.none(),
              data: { app_user_id: appUserId, is_anonymous: customer.isAnonymous }
            }
          ])
          return Option.some(customer)
        },
        outbox.transaction,
        Effect.orDie
      )

      const ensure = Effect.fn("Customers.ensure")(function* (appId: AppId, appUserId: AppUserId) {
        const find = customers.byAppUserId({ appId, appUserId })
        const known = yield* Effect.flatMap(
          find,
          Option.match({ onNone: () => create(appId, appUserId), onSome: Effect.succeedSome })
        )
        if (Option.isSome(known)) return known.value
        return yield* Effect.flatMap(find, Effect.orDie)
      })

      const subscriber = (appId: AppId, appUserId: AppUserId) =>
        Effect.map(
          reader.read({ appId }, appUserId),
          Option.map(({ view }) => view)
        )

      const seen = Effect.fn("Customers.seen")(function* (appId: AppId, appUserId: AppUserId) {
        const found = yield* reader.read({ appId }, appUserId)
        if (Option.isNone(found)) {
          const customer = yield* Schema.encode(Customer)(yield* ensure(appId, appUserId)).pipe(Effect.orDie)
          const { firstSeen, lastSeen } = customer
          const now = DateTime.formatIso(yield* DateTime.now)
          const stored = { ...customer, firstSeen: firstSeen.toISOString(), lastSeen: lastSeen.toISOString() }
          return subscriberOf(stored, [], [], now)
        }
        const now = yield* DateTime.now
        if (!isFresh(found.value.lastSeen, now)) yield* customers.touch(appId, appUserId, DateTime.toDateUtc(now))
        return found.value.view
      })

      return Customers.of({ ensure, byId: customers.byId, seen, subscriber })
    })
  ).pipe(Layer.provide(CustomerRepo.Default))
}
