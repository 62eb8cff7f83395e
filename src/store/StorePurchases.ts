import { Context, type DateTime, Effect, Layer, Option, Stream } from "effect"
import type { App } from "../catalog/domain/App.ts"
import { Credentials } from "./Credentials.ts"
import type { CredentialPlatform } from "./domain/Credential.ts"
import type { Environment, PurchaseFact } from "./domain/PurchaseFact.ts"
import { StoreAPurchases } from "./StoreAPurchases.ts"
import { StoreB } from "./StoreB.ts"
import { NoCredential, PurchaseUnknown, StoreDown, type StoreTrouble } from "./StoreTrouble.ts"

/** How long a store may take in all (contract, part 3, "Receipts"). */
const patience = "10 seconds"

/** Asks the stores with the app's own credentials (contract, part 3, "Receipts"). */
export class StorePurchases extends Context.Tag("gatehouse/store/StorePurchases")<
  StorePurchases,
  {
    /**
     * What store A says now of the purchase that a transaction belongs to: production is asked first, and sandbox only
     * when production knows no such purchase.
     */
    readonly ofStoreA: (
      app: App,
      transactionId: string
    ) => Effect.Effect<PurchaseFact, NoCredential | PurchaseUnknown | StoreTrouble>
    /** What store A pushed to the app in that time, or tried to: signed payloads. */
    readonly notificationsOfStoreA: (
      app: App,
      environment: Environment,
      range: { readonly from: DateTime.Utc; readonly to: DateTime.Utc }
    ) => Stream.Stream<string, NoCredential | StoreTrouble>
    /** What the store says of the credential, in a sentence. */
    readonly verify: (
      app: App,
      platform: CredentialPlatform,
      environment: Environment
    ) => Effect.Effect<string, NoCredential | StoreTrouble>
  }
>() {
  static readonly layer = Layer.effect(
    StorePurchases,
    Effect.gen(function* () {
      const credentials = yield* Credentials
      const storeA = yield* StoreAPurchases
      const storeB = yield* StoreB

      const accessA = Effect.fn("StorePurchases.accessA")(function* (app: App, environment: Environment) {
        const key = yield* credentials.storeA(app.id, environment)
        const access = Option.flatMap(key, (found) =>
          Option.map(
            Option.orElse(found.bundleId, () => app.bundleId),
            (bundleId) => ({ ...found, bundleId })
          )
        )
        return yield* Effect.mapError(access, () => new NoCredential())
      })

      const readIn = Effect.fn("StorePurchases.readIn")(function* (
        app: App,
        environment: Environment,
        transactionId: string
      ) {
        return yield* storeA.read(yield* accessA(app, environment), environment, transactionId)
      })

      const inTime = Effect.timeoutFail({
        duration: patience,
        onTimeout: () => new StoreDown({ detail: "no answer in 10 seconds" })
      })

      return StorePurchases.of({
        /** Sandbox is asked only if production does not know the purchase, or the app can call no production. */
        ofStoreA: (app, transactionId) =>
          readIn(app, "production", transactionId).pipe(
            Effect.catchTags({
              NoCredential: () => readIn(app, "sandbox", transactionId),
              PurchaseUnknown: (unknown) =>
                unknown.reason === "unknown"
                  ? Effect.catchTag(readIn(app, "sandbox", transactionId), "NoCredential", () => unknown)
                  : unknown
            }),
            inTime
          ),
        notificationsOfStoreA: (app, environment, range) =>
          Stream.unwrap(
            Effect.map(accessA(app, environment), (access) => storeA.notifications(access, environment, range))
          ),
        verify: (app, platform, environment) =>
          inTime(
            platform === "store_a"
              ? Effect.flatMap(accessA(app, environment), (access) => storeA.verify(access, environment))
              : storeB.verify(app, environment)
          )
      })
    })
  )
}
