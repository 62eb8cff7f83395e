import { Context, Data, Effect, Layer } from "effect"
import type { App } from "../catalog/domain/App.ts"
import { makeSingleFlight } from "../kit/SingleFlight.ts"
import { StorePurchases } from "../store/StorePurchases.ts"
import type { NoCredential, PurchaseUnknown, StoreTrouble } from "../store/StoreTrouble.ts"
import { Outbox } from "../webhook/Outbox.ts"
import { Acknowledgements } from "./Acknowledgements.ts"
import type { AppUserId } from "./domain/Customer.ts"
import { Identities } from "./Identities.ts"
import { type Claim, type OwnedByAnother, Purchases } from "./Purchases.ts"
import { StoreBReadings } from "./StoreBReadings.ts"

/** What a client shows of its purchase: enough for the store to find it. */
export type Proof =
  | { readonly store: "store_a"; readonly transactionId: string }
  | { readonly store: "store_b"; readonly productId: string; readonly purchaseToken: string }

type Failure = NoCredential | PurchaseUnknown | StoreTrouble | OwnedByAnother

const merges = 5

/**
 * Purchases that a client proves (subscription management, part 4, "Client SDK"; contract, part 3, "Receipts"). The store
 * is asked outside of any transaction, once for all requests that show the same at the same time; what it says is then
 * recorded in one.
 */
export class Receipts extends Context.Tag("gatehouse/subscription/Receipts")<
  Receipts,
  {
    /**
     * Nothing is stored unless it succeeds. A purchase of an anonymous customer merges that one into the claimant; one
     * that nothing was paid for yet changes nothing.
     */
    readonly validate: (app: App, appUserId: AppUserId, proof: Proof) => Effect.Effect<void, Failure>
  }
>() {
  static readonly layer = Layer.scoped(
    Receipts,
    Effect.gen(function* () {
      const stores = yield* StorePurchases
      const readings = yield* StoreBReadings
      const acknowledgements = yield* Acknowledgements
      const purchases = yield* Purchases
      const identities = yield* Identities
      const outbox = yield* Outbox
      const scope = yield* Effect.scope

      const claimOfStoreA = Effect.fn("Receipts.claimOfStoreA")(function* (
        app: App,
        transactionId: string,
        claim: Claim
      ) {
        const fact = yield* stores.ofStoreA(app, transactionId)
        yield* Effect.catchTag(outbox.transaction(purchases.claim(app.id, fact, claim)), "SqlError", Effect.die)
      })

      /** The client does not wait until the store was told: who could not tell it does so later. */
      const claimOfStoreB = Effect.fn("Receipts.claimOfStoreB")(function* (
        app: App,
        shown: { readonly productId: string; readonly purchaseToken: string },
        claim: Claim
      ) {
        yield* readings.claim(app, shown, claim)
        yield* Effect.forkIn(acknowledgements.acknowledge(app, shown.purchaseToken), scope)
      })

      const claim = (app: App, appUserId: AppUserId, proof: Proof) => {
        const claimed = { appUserId, transferBehavior: app.transferBehavior }
        return proof.store === "store_a"
          ? claimOfStoreA(app, proof.transactionId, claimed)
          : claimOfStoreB(app, proof, claimed)
      }

      const flight = yield* makeSingleFlight<unknown, void, Failure>()

      const validate = Effect.fn("Receipts.validate")(function* (app: App, appUserId: AppUserId, proof: Proof) {
        const merged = claim(app, appUserId, proof).pipe(
          Effect.tapErrorTag("OwnedByStranger", ({ claimant, stranger }) =>
            Effect.ignoreLogged(identities.identify(app.id, stranger, claimant))
          ),
          Effect.retry({ times: merges, while: ({ _tag }) => _tag === "OwnedByStranger" }),
          Effect.catchTag("OwnedByStranger", Effect.die)
        )
        yield* flight(Data.struct({ app: app.id, appUserId, ...proof }), merged)
      })

      return Receipts.of({ validate })
    })
  )
}
