import { Context, Data, DateTime, Effect, Layer, Option } from "effect"
import type { AppId } from "../catalog/domain/App.ts"
import { Outbox } from "../webhook/Outbox.ts"
import { Customers } from "./Customers.ts"
import { type AppUserId, isAnonymous } from "./domain/Customer.ts"
import { Events } from "./Events.ts"
import { type Identity, IdentityRepo } from "./IdentityRepo.ts"

/** A person is identified by a name of the app's own, not by another anonymous id. */
export class NameIsAnonymous extends Data.TaggedError("NameIsAnonymous")<{}> {}
/** The customer bears another name of the app's own already, by itself or since a merge: two named ones never merge. */
export class AlreadyNamed extends Data.TaggedError("AlreadyNamed")<{}> {}

/** Erased between our looks: the call starts over, as if it came after the erasure. */
class Vanished extends Data.TaggedError("Vanished")<{}> {}

/**
 * Who is who: an anonymous customer turns out to be a named one (contract, part 3, "Customers"). The old id keeps leading
 * to the merged customer, and purchases, grants and history move with it. Always the named row is locked before the
 * anonymous one, so that calls that cross wait for each other.
 */
export class Identities extends Context.Tag("gatehouse/subscription/Identities")<
  Identities,
  {
    /** Customers that do not exist yet are created. The same twice, and a name with itself, changes nothing. */
    readonly identify: (
      appId: AppId,
      anonymous: AppUserId,
      name: AppUserId
    ) => Effect.Effect<void, NameIsAnonymous | AlreadyNamed>
  }
>() {
  static readonly layer = Layer.effect(
    Identities,
    Effect.gen(function* () {
      const identities = yield* IdentityRepo
      const customers = yield* Customers
      const events = yield* Events
      const outbox = yield* Outbox

      const merge = Effect.fn("Identities.merge")(
        function* (appId: AppId, anonymous: AppUserId, name: AppUserId) {
          const named = yield* Effect.flatMap(identities.lock({ appId, appUserId: name }), orVanished)
          const stranger = yield* Effect.flatMap(identities.lock({ appId, appUserId: anonymous }), orVanished)
          if (Option.contains(stranger.mergedInto, named.id)) return
          if (Option.isSome(stranger.mergedInto) || Option.isSome(stranger.erasedAt)) return yield* new AlreadyNamed()
          yield* identities.merge(stranger.id, { id: named.id, ...together(named, stranger) })
          yield* events.record(appId, [
            {
              cause: `customer.identified:${stranger.id}`,
              type: "customer.identified",
              appUserId: name,
              store: Option.none(),
              environment: Option.none(),
              subscriptionId: Option.none(),
              data: { app_user_id: name, previous_app_user_id: anonymous }
            }
          ])
        },
        outbox.transaction,
        Effect.catchTag("SqlError", Effect.die)
      )

      const identify = Effect.fn("Identities.identify")(
        function* (appId: AppId, anonymous: AppUserId, name: AppUserId) {
          if (anonymous === name) return
          if (isAnonymous(name)) return yield* new NameIsAnonymous()
          if (!isAnonymous(anonymous)) return yield* new AlreadyNamed()
          const known = yield* customers.ensure(appId, anonymous)
          if (known.appUserId === name) return
          if (!known.isAnonymous || Option.isSome(known.erasedAt)) return yield* new AlreadyNamed()
          yield* customers.ensure(appId, name)
          yield* merge(appId, anonymous, name)
        },
        Effect.retry({ while: ({ _tag }) => _tag === "Vanished" }),
        Effect.catchTag("Vanished", Effect.die)
      )

      return Identities.of({ identify })
    })
  ).pipe(Layer.provide(IdentityRepo.Default))
}

const orVanished = (found: Option.Option<Identity>) =>
  Option.match(found, { onNone: () => new Vanished(), onSome: Effect.succeed })

/** The person was first seen under the older of both ids. */
const together = (named: Identity, stranger: Identity) => ({
  firstSeen: DateTime.min(named.firstSeen, stranger.firstSeen),
  lastSeen: DateTime.max(named.lastSeen, stranger.lastSeen),
  originalAppUserId: DateTime.lessThan(stranger.firstSeen, named.firstSeen)
    ? Option.some(stranger.appUserId)
    : named.originalAppUserId
})
