import { Context, DateTime, Effect, Layer, Option } from "effect"
import { v4 } from "uuid"
import type { AppId } from "../catalog/domain/App.ts"
import { EventBodies } from "../webhook/EventBodies.ts"
import { Outbox } from "../webhook/Outbox.ts"
import { CustomerNotFound } from "./Customers.ts"
import { anonymousId, type AppUserId, type CustomerId } from "./domain/Customer.ts"
import { withoutNames } from "./domain/Erasure.ts"
import { ErasureRepo } from "./ErasureRepo.ts"
import { Events } from "./Events.ts"

/**
 * Forgets a person and keeps the sums (contract, part 3, "Customers"). Of the customer an anonymous row with a random
 * name stays, which holds subscriptions and transactions; every name of the person is replaced by it in events and
 * webhook bodies, sent or not; merged names, grants, what receivers answered and what stores said of the person go.
 */
export class Erasure extends Context.Tag("gatehouse/subscription/Erasure")<
  Erasure,
  {
    /** All of it or nothing. The name is free afterwards: who bears it next is a new customer. */
    readonly erase: (appId: AppId, appUserId: AppUserId) => Effect.Effect<CustomerId, CustomerNotFound>
  }
>() {
  static readonly layer = Layer.effect(
    Erasure,
    Effect.gen(function* () {
      const repo = yield* ErasureRepo
      const bodies = yield* EventBodies
      const events = yield* Events
      const outbox = yield* Outbox

      const lock = Effect.fn("Erasure.lock")(function* (appId: AppId, appUserId: AppUserId) {
        const look = repo.lock({ appId, appUserId })
        const found = yield* Effect.flatMap(look, Option.match({ onNone: () => look, onSome: Effect.succeedSome }))
        return yield* Option.match(found, { onNone: () => new CustomerNotFound(), onSome: Effect.succeed })
      })

      const erase = Effect.fn("Erasure.erase")(
        function* (appId: AppId, appUserId: AppUserId) {
          const { id } = yield* lock(appId, appUserId)
          const names = (yield* repo.names(id)).map(({ appUserId: name }) => name)
          const tombstone = anonymousId(yield* Effect.sync(() => v4()))
          const forget = (json: unknown) => withoutNames(json, new Set(names), tombstone)
          const told = yield* repo.eventsOf({ appId, names })
          yield* repo.rewriteEvents(
            tombstone,
            told.map((event) => ({ id: event.id, data: forget(event.data) }))
          )
          yield* bodies.rewrite(
            told.map((event) => event.id),
            forget
          )
          yield* repo.silenceStores(id)
          yield* repo.bury(id, tombstone, yield* DateTime.now)
          yield* events.record(appId, [
            {
              cause: `customer.deleted:${id}`,
              type: "customer.deleted",
              appUserId: tombstone,
              store: Option.none(),
              environment: Option.none(),
              subscriptionId: Option.none(),
              data: { customer_uuid: id }
            }
          ])
          return id
        },
        outbox.transaction,
        Effect.catchTag("SqlError", Effect.die)
      )

      return Erasure.of({ erase })
    })
  ).pipe(Layer.provide(ErasureRepo.Default))
}
