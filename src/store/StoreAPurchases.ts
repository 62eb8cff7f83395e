import { Context, type DateTime, type Effect, type Stream } from "effect"
import type { StoreAKey } from "./Credentials.ts"
import type { Environment, PurchaseFact } from "./domain/PurchaseFact.ts"
import type { PurchaseUnknown, StoreTrouble } from "./StoreTrouble.ts"

/** `bundleId` is the credential's own, else the app's. */
export type StoreAAccess = Omit<StoreAKey, "bundleId"> & { readonly bundleId: string }

/** Port: what store A says when it is asked. A driver asks exactly the environment that it is told to. */
export class StoreAPurchases extends Context.Tag("gatehouse/store/StoreAPurchases")<
  StoreAPurchases,
  {
    /** The present state of the purchase that a transaction belongs to. */
    readonly read: (
      access: StoreAAccess,
      environment: Environment,
      transactionId: string
    ) => Effect.Effect<PurchaseFact, PurchaseUnknown | StoreTrouble>
    /** What the store pushed in that time, or tried to: compact JWS as signed, for whoever verifies them. */
    readonly notifications: (
      access: StoreAAccess,
      environment: Environment,
      range: { readonly from: DateTime.Utc; readonly to: DateTime.Utc }
    ) => Stream.Stream<string, StoreTrouble>
    /** Asks something that changes nothing for customers. Answers, in a sentence, what the store said of the credential. */
    readonly verify: (access: StoreAAccess, environment: Environment) => Effect.Effect<string, StoreTrouble>
  }
>() {}
