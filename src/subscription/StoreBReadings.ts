import { Context, Data, DateTime, Duration, Effect, Layer, Option, Schedule } from "effect"
import { Apps } from "../catalog/Apps.ts"
import type { App, AppId } from "../catalog/domain/App.ts"
import { PurchaseFact, StoreTransaction } from "../store/domain/PurchaseFact.ts"
import { type PushSubject, StoreB, StoreFailure, type StorePurchase } from "../store/StoreB.ts"
import { Outbox } from "../webhook/Outbox.ts"
import { Purchases } from "./Purchases.ts"
import { bySigning } from "./domain/Lifecycle.ts"
import { SubscriptionRepo } from "./SubscriptionRepo.ts"
import { type KnownToken, TokenRepo } from "./TokenRepo.ts"

/** The store refunds what is unacknowledged for three days: tried again well before, and often. */
const firstRetry = Duration.minutes(1)
const nextRetry = Duration.minutes(15)
const batch = 50

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

/**
 * Reads purchases back from store B and applies what it says (contract, part 3, "Receipts" and "Store notifications").
 *
 * The reading happens outside of any transaction, and counts only if no other reading of the same token was applied
 * meanwhile; else it is made again. So readings of one token follow one after the other in any number of processes, and
 * the state is that of the last one. `settle` runs in the transaction of the facts.
 */
export class StoreBReadings extends Context.Tag("gatehouse/subscription/StoreBReadings")<
  StoreBReadings,
  {
    readonly look: (
      app: App,
      look: Look,
      settle: (looked: Looked) => Effect.Effect<void>
    ) => Effect.Effect<Looked, StoreFailure>
    /** Tells the store that a purchase was given, if it waits for that. A failure leaves it due. */
    readonly acknowledge: (app: App, look: Pick<Look, "purchaseToken">) => Effect.Effect<void>
    /** Acknowledges what is overdue in all apps; answers how many purchases were tried. */
    readonly acknowledgeDue: Effect.Effect<number>
  }
>() {
  static readonly layer = Layer.effect(
    StoreBReadings,
    Effect.gen(function* () {
      const apps = yield* Apps
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
        if (Option.isNone(voidedAt)) return yield* unconfirmed
        yield* tokens.addVoided({ appId: app.id, purchaseToken, orderId, voidedAt: voidedAt.value })
        return voided.set(orderId, voidedAt.value)
      })

      /** The store shows the last order only: one before it that was taken back is told of as it was recorded. */
      const takeBackEarlier = Effect.fn("StoreBReadings.takeBackEarlier")(function* (
        appId: AppId,
        { factId, voidedOrder }: Look,
        shown: PurchaseFact,
        readAt: DateTime.Utc,
        voided: ReadonlyMap<string, DateTime.Utc>
      ) {
        const orderId = Option.getOrElse(voidedOrder, () => shown.transaction.transactionId)
        if (orderId === shown.transaction.transactionId) return
        const chain = yield* subscriptions.ofChain({ appId, ...shown })
        if (Option.isNone(chain)) return
        const told = (yield* subscriptions.facts(chain.value.id)).map(({ fact }) => fact)
        const last = told
          .filter(({ transaction }) => transaction.transactionId === orderId)
          .sort(bySigning)
          .at(-1)
        if (last === undefined) return
        yield* purchases.apply(
          appId,
          PurchaseFact.make({
            ...last,
            factId: `${factId}:${orderId}`,
            kind: "refunded",
            signedAt: readAt,
            transaction: StoreTransaction.make({
              ...last.transaction,
              refundedAt: Option.fromNullable(voided.get(orderId))
            })
          })
        )
      })

      const record = Effect.fn("StoreBReadings.record")(function* (
        app: App,
        look: Look,
        before: number,
        purchase: StorePurchase,
        voided: ReadonlyMap<string, DateTime.Utc>
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
        const [main] = purchase.facts
        if (main === undefined) return Looked.Nothing({ reason: "nothing was paid yet" })
        const readAt = after(
          purchase.readAt,
          Option.flatMap(known, (token) => token.readAt)
        )
        const replaced = yield* Option.match(purchase.replaces, {
          onNone: () => Effect.succeedNone,
          onSome: (token) => tokens.find({ appId: app.id, purchaseToken: token })
        })
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
          acknowledgeDueAt: Option.map(purchase.awaitsAcknowledgement, () => DateTime.addDuration(readAt, firstRetry))
        })
        if (Option.isSome(purchase.replaces)) yield* tokens.retire(app.id, purchase.replaces.value, purchaseToken)
        for (const fact of purchase.facts) {
          const transaction = StoreTransaction.make({ ...fact.transaction, purchaseDate: periodStartedAt })
          yield* purchases.apply(app.id, PurchaseFact.make({ ...fact, signedAt: readAt, transaction }))
        }
        yield* takeBackEarlier(app.id, look, main, readAt, voided)
        return Looked.Applied()
      })

      const attempt = Effect.fn("StoreBReadings.attempt")(function* (
        app: App,
        look: Look,
        settle: (looked: Looked) => Effect.Effect<void>
      ) {
        const { factId, kind, purchaseToken, type } = look
        const known = yield* tokens.find({ appId: app.id, purchaseToken })
        const before = Option.match(known, { onNone: () => 0, onSome: ({ readings }) => readings })
        const voided = yield* voidedOf(app, look)
        const purchase = yield* storeB.purchase(app, {
          purchaseToken,
          type,
          factId,
          kind,
          voided,
          originOf: originOf(app.id)
        })
        return yield* record(app, look, before, purchase, voided).pipe(
          Effect.tap(settle),
          outbox.transaction,
          Effect.catchTag("SqlError", Effect.die)
        )
      })

      const look = Effect.fn("StoreBReadings.look")(
        (app: App, asked: Look, settle: (looked: Looked) => Effect.Effect<void>) =>
          Effect.retry(attempt(app, asked, settle), {
            while: ({ _tag }) => _tag === "Overtaken",
            schedule: Schedule.spaced("20 millis"),
            times: 20
          }),
        Effect.catchTag("Overtaken", Effect.die)
      )

      const acknowledge = Effect.fn("StoreBReadings.acknowledge")(function* (
        app: App,
        { purchaseToken }: Pick<Look, "purchaseToken">
      ) {
        const known = yield* tokens.find({ appId: app.id, purchaseToken })
        if (Option.isNone(known) || Option.isSome(known.value.acknowledgedAt)) return
        const { productId, type } = known.value
        if (Option.isNone(productId)) return
        yield* storeB.acknowledge(app, { purchaseToken, type, productId: productId.value }).pipe(
          Effect.zipRight(Effect.flatMap(DateTime.now, (now) => tokens.acknowledged(app.id, purchaseToken, now))),
          Effect.catchTag("StoreFailure", ({ detail, reason }) =>
            Effect.annotateLogs(Effect.logWarning("a purchase could not be acknowledged and stays due"), {
              store: "store_b",
              reason,
              detail
            })
          )
        )
      })

      const acknowledgeDue = Effect.gen(function* () {
        const now = yield* DateTime.now
        const due = yield* Effect.orDie(
          tokens.takeDue({ now, retryAt: DateTime.addDuration(now, nextRetry), limit: batch })
        )
        yield* Effect.forEach(
          due,
          ({ appId, purchaseToken }) =>
            Effect.flatMap(
              apps.byId(appId),
              Option.match({ onNone: () => Effect.void, onSome: (app) => acknowledge(app, { purchaseToken }) })
            ),
          { concurrency: 5, discard: true }
        )
        return due.length
      }).pipe(Effect.withSpan("StoreBReadings.acknowledgeDue"))

      return StoreBReadings.of({ look, acknowledge, acknowledgeDue })
    })
  ).pipe(Layer.provide([TokenRepo.Default, SubscriptionRepo.Default]))
}

/** Never before an earlier reading, whatever the clocks of two processes say. */
const after = (readAt: DateTime.Utc, last: Option.Option<DateTime.Utc>): DateTime.Utc =>
  Option.match(last, {
    onNone: () => readAt,
    onSome: (before) => DateTime.max(readAt, DateTime.addDuration(before, Duration.millis(1)))
  })

/**
 * When the period of an order began. The store does not say, so that its driver's estimate counts only the first time an
 * order is seen, and not beyond that moment; from then on it stays. A period begins after the one before it, over a
 * replacement too.
 */
const periodStart = (
  { purchaseDate, transactionId }: StoreTransaction,
  readAt: DateTime.Utc,
  known: Option.Option<KnownToken>,
  replaced: Option.Option<KnownToken>
): DateTime.Utc => {
  const begun = Option.flatMap(known, ({ orderId, periodStartedAt }) => Option.all({ orderId, periodStartedAt }))
  if (Option.isSome(begun) && begun.value.orderId === transactionId) return begun.value.periodStartedAt
  const last = Option.orElse(
    Option.map(begun, ({ periodStartedAt }) => periodStartedAt),
    () => Option.flatMap(replaced, ({ periodStartedAt }) => periodStartedAt)
  )
  return after(DateTime.min(purchaseDate, readAt), last)
}

const unconfirmed = new StoreFailure({
  reason: "unavailable",
  detail: "the store does not list the order as taken back yet",
  retryAfter: Option.none()
})
