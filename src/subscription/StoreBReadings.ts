import { Context, Data, DateTime, Duration, Effect, Layer, Option, Schedule } from "effect"
import type { App, AppId } from "../catalog/domain/App.ts"
import { nextId } from "../kit/Id.ts"
import { PurchaseFact, StoreTransaction } from "../store/domain/PurchaseFact.ts"
import { type PurchaseType, type PushSubject, StoreB, type StoreBFailure, type StorePurchase } from "../store/StoreB.ts"
import { PurchaseUnknown, StoreDown } from "../store/StoreTrouble.ts"
import { Outbox } from "../webhook/Outbox.ts"
import { type Claim, type OwnedByAnother, type OwnedByStranger, Purchases } from "./Purchases.ts"
import { bySigning } from "./domain/Lifecycle.ts"
import { goingOn, periodStart, readingAfter } from "./domain/StoreBPeriod.ts"
import { SubscriptionRepo } from "./SubscriptionRepo.ts"
import { TokenRepo } from "./TokenRepo.ts"

/** The first try belongs to whoever reads the purchase; who looks for what is overdue comes after it. */
const acknowledgeAfter = Duration.minutes(1)

/** How long the store may take in all, whatever it is asked for one reading. */
const patience = "10 seconds"
const overtakings = 20

/** What became of looking at a purchase: its facts were applied, or why there was nothing to apply. */
export type Looked = Data.TaggedEnum<{ Applied: {}; Nothing: { readonly reason: string } }>
export const Looked = Data.taggedEnum<Looked>()

/** Another reading of the purchase was applied while this one was under way: it may be older than that one. */
class Overtaken extends Data.TaggedError("Overtaken")<{}> {}

export interface Look extends PushSubject {
  /** Names the statements that come of it. */
  readonly factId: string
  readonly since: DateTime.Utc
}

/** A purchase that somebody shows. `productId` is the product without a base plan, as the client bought it. */
export interface ShownPurchase {
  readonly purchaseToken: string
  readonly productId: string
}

/**
 * What is done with a reading: `admit` may refuse it before anything is written; `apply` gets each of its facts and
 * `settle` its end, in the transaction that counts the reading.
 */
interface Handling<E> {
  readonly admit: (purchase: StorePurchase) => Effect.Effect<void, E>
  readonly apply: (fact: PurchaseFact) => Effect.Effect<void, E>
  readonly settle: (looked: Looked) => Effect.Effect<void>
}

/**
 * Reads purchases back from store B and applies what it says (contract, part 3, "Receipts" and "Store notifications").
 *
 * The reading happens outside of any transaction, and counts only if no other reading of the same token was applied
 * meanwhile; else it is made again. So readings of one token follow one after the other in any number of processes, and
 * the state is that of the last one.
 */
export class StoreBReadings extends Context.Tag("gatehouse/subscription/StoreBReadings")<
  StoreBReadings,
  {
    /** `settle` runs in the transaction of the facts. */
    readonly look: (
      app: App,
      look: Look,
      settle: (looked: Looked) => Effect.Effect<void>
    ) => Effect.Effect<Looked, StoreBFailure>
    /** The same for somebody who proves the purchase, and to whom it belongs from now on. */
    readonly claim: (
      app: App,
      shown: ShownPurchase,
      claim: Claim
    ) => Effect.Effect<Looked, StoreBFailure | OwnedByAnother | OwnedByStranger>
  }
>() {
  static readonly layer = Layer.effect(
    StoreBReadings,
    Effect.gen(function* () {
      const storeB = yield* StoreB
      const tokens = yield* TokenRepo
      const purchases = yield* Purchases
      const subscriptions = yield* SubscriptionRepo
      const outbox = yield* Outbox

      const originOf = (appId: AppId) => (purchaseToken: string) =>
        Effect.map(
          tokens.find({ appId, purchaseToken }),
          Option.flatMap(({ originalTransactionId, startedAt }) => Option.all({ originalTransactionId, startedAt }))
        )

      /** The orders taken back, with the one that a push speaks of once the store's own list confirms it. */
      const voidedOf = Effect.fn("StoreBReadings.voidedOf")(function* (app: App, look: Look) {
        const { purchaseToken, since, voidedOrder } = look
        const known = yield* tokens.voided({ appId: app.id, purchaseToken })
        const voided = new Map(known.map(({ orderId, voidedAt }) => [orderId, voidedAt]))
        if (Option.isNone(voidedOrder) || voided.has(voidedOrder.value)) return voided
        const orderId = voidedOrder.value
        const voidedAt = yield* storeB.voidedAt(app, { purchaseToken, orderId, since })
        if (Option.isNone(voidedAt)) {
          return yield* new StoreDown({ detail: "the store does not list the order as taken back yet" })
        }
        yield* tokens.addVoided({ appId: app.id, purchaseToken, orderId, voidedAt: voidedAt.value })
        return voided.set(orderId, voidedAt.value)
      })

      /** The store shows the last order only: one before it that was taken back is told of as it was recorded. */
      const takenBackEarlier = Effect.fn("StoreBReadings.takenBackEarlier")(function* (
        appId: AppId,
        { factId, voidedOrder }: Look,
        shown: PurchaseFact,
        readAt: DateTime.Utc,
        voided: ReadonlyMap<string, DateTime.Utc>
      ) {
        const orderId = Option.getOrElse(voidedOrder, () => shown.transaction.transactionId)
        if (orderId === shown.transaction.transactionId) return Option.none()
        const chain = yield* subscriptions.ofChain({ appId, ...shown })
        if (Option.isNone(chain)) return Option.none()
        const told = (yield* subscriptions.facts(chain.value.id)).map(({ fact }) => fact)
        const last = told
          .filter(({ transaction }) => transaction.transactionId === orderId)
          .sort(bySigning)
          .at(-1)
        return Option.map(Option.fromNullable(last), (fact) =>
          PurchaseFact.make({
            ...fact,
            factId: `${factId}:${orderId}`,
            kind: "refunded",
            signedAt: readAt,
            transaction: StoreTransaction.make({
              ...fact.transaction,
              refundedAt: Option.fromNullable(voided.get(orderId))
            })
          })
        )
      })

      const record = Effect.fn("StoreBReadings.record")(function* <E>(
        app: App,
        look: Look,
        before: number,
        purchase: StorePurchase,
        voided: ReadonlyMap<string, DateTime.Utc>,
        apply: Handling<E>["apply"]
      ) {
        const { purchaseToken, type } = look
        yield* tokens.lock(app.id, purchaseToken)
        const known = yield* tokens.find({ appId: app.id, purchaseToken })
        const readings = Option.match(known, { onNone: () => 0, onSome: (token) => token.readings })
        if (readings !== before) return yield* new Overtaken()
        const isReplaced = Option.exists(known, ({ replacedBy }) => Option.isSome(replacedBy))
        if (isReplaced && Option.isNone(look.voidedOrder)) {
          return Looked.Nothing({ reason: "a newer purchase took its place" })
        }
        const [shown, ...items] = purchase.facts
        if (shown === undefined) return Looked.Nothing({ reason: "nothing was paid yet" })
        const readAt = readingAfter(
          purchase.readAt,
          Option.flatMap(known, (token) => token.readAt)
        )
        const replaced = yield* Option.match(purchase.replaces, {
          onNone: () => Effect.succeedNone,
          onSome: (token) => tokens.find({ appId: app.id, purchaseToken: token })
        })
        const main = goingOn(shown, known, replaced)
        const periodStartedAt = periodStart(main.transaction, readAt, known, replaced)
        yield* tokens.save({
          appId: app.id,
          purchaseToken,
          type,
          readAt,
          ...purchase.origin,
          orderId: main.transaction.transactionId,
          periodStartedAt,
          productId: purchase.awaitsAcknowledgement,
          acknowledgeDueAt: Option.map(purchase.awaitsAcknowledgement, () =>
            DateTime.addDuration(readAt, acknowledgeAfter)
          )
        })
        if (Option.isSome(purchase.replaces)) yield* tokens.retire(app.id, purchase.replaces.value, purchaseToken)
        for (const fact of [main, ...items]) {
          const transaction = StoreTransaction.make({ ...fact.transaction, purchaseDate: periodStartedAt })
          yield* apply(PurchaseFact.make({ ...fact, signedAt: readAt, transaction }))
        }
        const earlier = yield* takenBackEarlier(app.id, look, main, readAt, voided)
        if (Option.isSome(earlier)) yield* apply(earlier.value)
        return Looked.Applied()
      })

      const ask = Effect.fn("StoreBReadings.ask")(
        function* (app: App, look: Look) {
          const voided = yield* voidedOf(app, look)
          const purchase = yield* storeB.purchase(app, { ...look, voided, originOf: originOf(app.id) })
          return { voided, purchase }
        },
        Effect.timeoutFail({
          duration: patience,
          onTimeout: () => new StoreDown({ detail: "no answer in 10 seconds" })
        })
      )

      const attempt = Effect.fn("StoreBReadings.attempt")(function* <E>(
        app: App,
        look: Look,
        { admit, apply, settle }: Handling<E>
      ) {
        const known = yield* tokens.find({ appId: app.id, purchaseToken: look.purchaseToken })
        const before = Option.match(known, { onNone: () => 0, onSome: ({ readings }) => readings })
        const { purchase, voided } = yield* ask(app, look)
        yield* admit(purchase)
        return yield* record(app, look, before, purchase, voided, apply).pipe(
          Effect.tap(settle),
          outbox.transaction,
          Effect.catchTag("SqlError", Effect.die)
        )
      })

      const reading = <E>(app: App, look: Look, handling: Handling<E>) =>
        attempt(app, look, handling).pipe(
          Effect.retry({
            while: (error) => error instanceof Overtaken,
            schedule: Schedule.spaced("20 millis"),
            times: overtakings
          }),
          Effect.catchIf(
            (error) => error instanceof Overtaken,
            () => new StoreDown({ detail: "the purchase changes faster than it can be read" })
          )
        )

      const look = Effect.fn("StoreBReadings.look")(function* (
        app: App,
        asked: Look,
        settle: (looked: Looked) => Effect.Effect<void>
      ) {
        const apply = (fact: PurchaseFact) => purchases.apply(app.id, fact)
        return yield* reading(app, asked, { admit: () => Effect.void, apply, settle })
      })

      const claim = Effect.fn("StoreBReadings.claim")(function* (
        app: App,
        { productId, purchaseToken }: ShownPurchase,
        claimed: Claim
      ) {
        const known = yield* tokens.find({ appId: app.id, purchaseToken })
        const handling: Handling<PurchaseUnknown | OwnedByAnother | OwnedByStranger> = {
          admit: ({ facts }: StorePurchase) =>
            facts.length === 0 || facts.some(isOf(productId))
              ? Effect.void
              : new PurchaseUnknown({ reason: "another_product" }),
          apply: (fact: PurchaseFact) => purchases.claim(app.id, fact, claimed),
          settle: () => Effect.void
        }
        const factId = `receipt:${yield* nextId}`
        const since = yield* DateTime.now
        const readAs = (type: PurchaseType) =>
          reading(app, { purchaseToken, type, kind: "observed", voidedOrder: Option.none(), factId, since }, handling)
        if (Option.isSome(known)) return yield* readAs(known.value.type)
        return yield* Effect.catchIf(
          readAs("subscription"),
          (error) => error._tag === "PurchaseUnknown" && error.reason !== "another_product",
          () => readAs("one_time")
        )
      })

      return StoreBReadings.of({ look, claim })
    })
  ).pipe(Layer.provide([TokenRepo.Default, SubscriptionRepo.Default]))
}

/** Clients name the product alone; the catalogue's name has the base plan behind it. */
const isOf =
  (productId: string) =>
  ({ transaction }: PurchaseFact): boolean =>
    transaction.productIdentifier === productId || transaction.productIdentifier.startsWith(`${productId}:`)
