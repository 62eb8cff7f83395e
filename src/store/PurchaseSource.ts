import { Context, Data, type Duration, type Effect } from "effect"
import type { StoreAKey, StoreBAccount } from "./Credentials.ts"
import type { Environment, PurchaseFact } from "./domain/PurchaseFact.ts"

/** The store knows no such purchase, or one of another app: what the client sent proves nothing here. */
export class PurchaseUnknown extends Data.TaggedError("PurchaseUnknown")<{
  readonly reason: "unknown" | "another_app"
}> {}

/** The store does not accept the credential. `detail` is the store's own word; it names no secret. */
export class CredentialRejected extends Data.TaggedError("CredentialRejected")<{ readonly detail: string }> {}

/** The store asks for a pause. */
export class StoreLimited extends Data.TaggedError("StoreLimited")<{ readonly retryAfter: Duration.Duration }> {}

/** No answer in time, or one that says "later". */
export class StoreDown extends Data.TaggedError("StoreDown")<{ readonly detail: string }> {}

/** An answer that may not be believed or understood: another shape, or a signature that does not verify. */
export class StoreAnswerWrong extends Data.TaggedError("StoreAnswerWrong")<{ readonly detail: string }> {}

/** The store itself is in the way: nothing is known about the purchase. */
export type StoreTrouble = CredentialRejected | StoreLimited | StoreDown | StoreAnswerWrong

export interface StoreAProof {
  readonly store: "store_a"
  readonly transactionId: string
}

export interface StoreBProof {
  readonly store: "store_b"
  readonly productId: string
  readonly purchaseToken: string
}

/** What a client holds to show that it bought something (subscription management, part 4, "Client SDK"). */
export type Proof = StoreAProof | StoreBProof

/**
 * Port: what one store says of purchases when it is asked. `read` answers the present state of the purchase that the
 * proof names, as facts ready to be folded, never empty. A driver asks exactly the environment that it is told to.
 */
export interface PurchaseSource<Key, Shown extends Proof> {
  readonly read: (
    key: Key,
    environment: Environment,
    proof: Shown
  ) => Effect.Effect<readonly [PurchaseFact, ...Array<PurchaseFact>], PurchaseUnknown | StoreTrouble>
  /** Asks something that changes nothing for customers. Answers, in a sentence, what the store said of the credential. */
  readonly verify: (key: Key, environment: Environment) => Effect.Effect<string, StoreTrouble>
}

/** `bundleId` is the credential's own, else the app's. */
export type StoreAAccess = Omit<StoreAKey, "bundleId"> & { readonly bundleId: string }
export type StoreBAccess = Omit<StoreBAccount, "packageName"> & { readonly packageName: string }

export class StoreAPurchases extends Context.Tag("gatehouse/store/StoreAPurchases")<
  StoreAPurchases,
  PurchaseSource<StoreAAccess, StoreAProof>
>() {}

export class StoreBPurchases extends Context.Tag("gatehouse/store/StoreBPurchases")<
  StoreBPurchases,
  PurchaseSource<StoreBAccess, StoreBProof>
>() {}
