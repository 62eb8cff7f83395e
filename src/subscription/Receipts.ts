import { Cache, Context, Data, Duration, Effect, Fiber, Layer, Option } from "effect"
import type { App } from "../catalog/domain/App.ts"
import type { Proof, PurchaseUnknown, StoreTrouble } from "../store/PurchaseSource.ts"
import { type NoCredential, StorePurchases } from "../store/StorePurchases.ts"
import { Outbox } from "../webhook/Outbox.ts"
import type { AppUserId } from "./domain/Customer.ts"
import { Identities } from "./Identities.ts"
import { type OwnedByAnother, Purchases } from "./Purchases.ts"

type Failure = NoCredential | PurchaseUnknown | StoreTrouble | OwnedByAnother

/** Enough for any number of clients that look at the same purchase at once. */
const flightsAtOnce = 10_000
const looks = 5

/**
 * Purchases that a client proves (subscription management, part 4, "Client SDK"; contract, part 3, "Receipts"). The store
 * is asked outside of any transaction, once for all who show the same purchase at the same time; what it says is then
 * recorded in one.
 */
export class Receipts extends Context.Tag("gatehouse/subscription/Receipts")<
  Receipts,
  {
    /** Nothing is stored unless it succeeds. A purchase of an anonymous customer merges that one into the claimant. */
    readonly validate: (app: App, appUserId: AppUserId, proof: Proof) => Effect.Effect<void, Failure>
  }
>() {
  static readonly layer = Layer.scoped(
    Receipts,
    Effect.gen(function* () {
      const stores = yield* StorePurchases
      const purchases = yield* Purchases
      const identities = yield* Identities
      const outbox = yield* Outbox
      const scope = yield* Effect.scope

      const flights = yield* Cache.makeWith({
        capacity: flightsAtOnce,
        timeToLive: () => Duration.zero,
        lookup: ({ app, proof }: { readonly app: App; readonly proof: Proof }) => stores.read(app, Option.none(), proof)
      })

      /** In the program's scope: one of several callers who goes away takes the answer from nobody. */
      const ask = (app: App, proof: Proof) =>
        Effect.flatMap(Effect.forkIn(flights.get(Data.struct({ app, proof: Data.struct(proof) })), scope), Fiber.join)

      const validate = Effect.fn("Receipts.validate")(function* (app: App, appUserId: AppUserId, proof: Proof) {
        const facts = yield* ask(app, proof)
        const claim = { appUserId, transferBehavior: app.transferBehavior }
        const record = Effect.forEach(facts, (fact) => purchases.claim(app.id, fact, claim), { discard: true })
        yield* outbox.transaction(record).pipe(
          Effect.catchTag("SqlError", Effect.die),
          Effect.tapErrorTag("OwnedByStranger", ({ claimant, stranger }) =>
            Effect.ignoreLogged(identities.identify(app.id, stranger, claimant))
          ),
          Effect.retry({ times: looks, while: ({ _tag }) => _tag === "OwnedByStranger" }),
          Effect.catchTag("OwnedByStranger", Effect.die)
        )
      })

      return Receipts.of({ validate })
    })
  )
}
