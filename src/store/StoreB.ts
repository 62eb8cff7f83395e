import { Context, Data, type DateTime, type Effect, type Option } from "effect"
import type { App } from "../catalog/domain/App.ts"
import type { Environment, FactKind, PurchaseFact } from "./domain/PurchaseFact.ts"
import type { NotificationRefused } from "./StoreNotifications.ts"
import type { NoCredential, PurchaseUnknown, StoreTrouble } from "./StoreTrouble.ts"

/** A push without something that it must have, by field of the request's body: it can never be read. */
export class PushMalformed extends Data.TaggedError("PushMalformed")<{
  readonly field: string
  readonly sentence: string
}> {}

/** The store did not say what it was asked. Nothing that was sent is quoted. */
export type StoreBFailure = NoCredential | PurchaseUnknown | StoreTrouble

export type PurchaseType = "subscription" | "one_time"

/** The purchase that a push speaks about. `voidedOrder` is the order that it says was taken back. */
export interface PushSubject {
  readonly purchaseToken: string
  readonly type: PurchaseType
  readonly kind: FactKind
  readonly voidedOrder: Option.Option<string>
}

/**
 * A push that is genuine as far as it can be. `notificationId` is equal over the store's repeats. `subject` is none for
 * what speaks of no purchase, and for another package, which `isForeign` says. Nothing of it is believed but that there
 * is something to read.
 */
export interface StorePush {
  readonly notificationId: string
  readonly type: string
  readonly eventAt: DateTime.Utc
  readonly isForeign: boolean
  readonly subject: Option.Option<PushSubject>
}

/** Where a chain of purchases began: what names it, and when. */
export interface Origin {
  readonly originalTransactionId: string
  readonly startedAt: DateTime.Utc
}

export interface PurchaseQuestion {
  readonly purchaseToken: string
  readonly type: PurchaseType
  /** Names the statement that comes of it. */
  readonly factId: string
  readonly kind: FactKind
  /** Orders that the store is known to have taken back. */
  readonly voided: ReadonlyMap<string, DateTime.Utc>
  /** The origin of a purchase that was read before; asked about what a purchase replaced. */
  readonly originOf: (purchaseToken: string) => Effect.Effect<Option.Option<Origin>>
}

/**
 * A purchase as the store shows it now. `facts` is empty while nothing was paid. `replaces` is the token of the purchase
 * that this one took the place of. `acknowledge` names the product to acknowledge, where the store waits for that.
 */
export interface StorePurchase {
  readonly readAt: DateTime.Utc
  readonly facts: ReadonlyArray<PurchaseFact>
  readonly origin: Origin
  readonly replaces: Option.Option<string>
  readonly awaitsAcknowledgement: Option.Option<string>
}

export interface Acknowledgement {
  readonly purchaseToken: string
  readonly type: PurchaseType
  readonly productId: string
}

/**
 * Port: store B (subscription management, part 4, "Inbound store notifications"; contract, part 3, "Receipts" and "Store
 * notifications"). Calls take the app's own credential, and 10 seconds at most.
 */
export class StoreB extends Context.Tag("gatehouse/store/StoreB")<
  StoreB,
  {
    /** Reads a push. `authorization` is the header as sent; it is verified where an audience is set. */
    readonly push: (
      app: App,
      push: {
        readonly authorization: Option.Option<string>
        readonly messageId: string
        readonly data: string
      }
    ) => Effect.Effect<StorePush, NotificationRefused | PushMalformed>
    /** The same push read once more, as one that was let in before. */
    readonly readAgain: (
      app: App,
      push: { readonly messageId: string; readonly data: string }
    ) => Effect.Effect<StorePush, PushMalformed>
    readonly purchase: (app: App, question: PurchaseQuestion) => Effect.Effect<StorePurchase, StoreBFailure>
    /** When the store took an order back; none where its list, asked from a day before `since`, does not say so. */
    readonly voidedAt: (
      app: App,
      order: { readonly purchaseToken: string; readonly orderId: string; readonly since: DateTime.Utc }
    ) => Effect.Effect<Option.Option<DateTime.Utc>, StoreBFailure>
    /** Tells the store that the purchase was given to the customer. Repeating it is harmless. */
    readonly acknowledge: (app: App, purchase: Acknowledgement) => Effect.Effect<void, StoreBFailure>
    /** Asks something that changes nothing for customers. Answers, in a sentence, what the store said of the credential. */
    readonly verify: (app: App, environment: Environment) => Effect.Effect<string, NoCredential | StoreTrouble>
  }
>() {}
