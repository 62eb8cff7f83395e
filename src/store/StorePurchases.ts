import { Context, Data, Effect, Layer, Option } from "effect"
import type { App } from "../catalog/domain/App.ts"
import { Credentials } from "./Credentials.ts"
import type { CredentialPlatform } from "./domain/Credential.ts"
import type { Environment, PurchaseFact } from "./domain/PurchaseFact.ts"
import {
  type Proof,
  PurchaseUnknown,
  StoreAPurchases,
  StoreBPurchases,
  StoreDown,
  type StoreTrouble
} from "./PurchaseSource.ts"

/** The app has nothing to call that store with. */
export class NoCredential extends Data.TaggedError("NoCredential")<{}> {}

type StoreApp = Pick<App, "id" | "bundleId" | "packageName">
type Facts = readonly [PurchaseFact, ...Array<PurchaseFact>]

/** How long a store may take in all (contract, part 3, "Receipts"). */
const patience = "10 seconds"

/** Asks the stores with the app's own credentials (contract, part 3, "Receipts"). */
export class StorePurchases extends Context.Tag("gatehouse/store/StorePurchases")<
  StorePurchases,
  {
    /**
     * What the store says now of the purchase that the proof names. Without an environment production is asked first,
     * and sandbox only when production knows no such purchase.
     */
    readonly read: (
      app: StoreApp,
      environment: Option.Option<Environment>,
      proof: Proof
    ) => Effect.Effect<Facts, NoCredential | PurchaseUnknown | StoreTrouble>
    /** What the store says of the credential, in a sentence. */
    readonly verify: (
      app: StoreApp,
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
      const storeB = yield* Effect.serviceOption(StoreBPurchases)

      const orNone = <A>(access: Option.Option<A>) =>
        Option.match(access, { onNone: () => new NoCredential(), onSome: Effect.succeed })

      const accessA = Effect.fn("StorePurchases.accessA")(function* (app: StoreApp, environment: Environment) {
        const key = Option.getOrUndefined(yield* credentials.storeA(app.id, environment))
        if (key === undefined) return yield* new NoCredential()
        return { ...key, bundleId: yield* orNone(Option.orElse(key.bundleId, () => app.bundleId)) }
      })

      const accessB = Effect.fn("StorePurchases.accessB")(function* (app: StoreApp, environment: Environment) {
        const found = Option.getOrUndefined(yield* credentials.storeB(app.id, environment))
        const driver = yield* orNone(storeB)
        if (found === undefined) return yield* new NoCredential()
        const packageName = yield* orNone(Option.orElse(found.packageName, () => app.packageName))
        return { driver, access: { account: found.account, packageName } }
      })

      const readIn = (
        app: StoreApp,
        environment: Environment,
        proof: Proof
      ): Effect.Effect<Facts, NoCredential | PurchaseUnknown | StoreTrouble> =>
        proof.store === "store_a"
          ? Effect.flatMap(accessA(app, environment), (access) => storeA.read(access, environment, proof))
          : Effect.flatMap(accessB(app, environment), ({ access, driver }) => driver.read(access, environment, proof))

      /** Sandbox is asked only if production does not know the purchase, or the app can call no production. */
      const readAnywhere = (app: StoreApp, proof: Proof) =>
        readIn(app, "production", proof).pipe(
          Effect.catchTags({
            NoCredential: () => readIn(app, "sandbox", proof),
            PurchaseUnknown: (unknown) =>
              unknown.reason === "unknown"
                ? Effect.catchTag(readIn(app, "sandbox", proof), "NoCredential", () => unknown)
                : unknown
          })
        )

      const inTime = Effect.timeoutFail({
        duration: patience,
        onTimeout: () => new StoreDown({ detail: "no answer in 10 seconds" })
      })

      return StorePurchases.of({
        read: (app, environment, proof) =>
          inTime(
            Option.match(environment, {
              onNone: () => readAnywhere(app, proof),
              onSome: (known) => readIn(app, known, proof)
            })
          ),
        verify: (app, platform, environment) =>
          inTime(
            platform === "store_a"
              ? Effect.flatMap(accessA(app, environment), (access) => storeA.verify(access, environment))
              : Effect.flatMap(accessB(app, environment), ({ access, driver }) => driver.verify(access, environment))
          )
      })
    })
  )
}
