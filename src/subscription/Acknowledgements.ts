import { Context, DateTime, Duration, Effect, Layer, Option } from "effect"
import type { App } from "../catalog/domain/App.ts"
import { StoreB, type StoreBFailure } from "../store/StoreB.ts"
import { sentenceOf } from "../store/StoreTrouble.ts"
import { TokenRepo } from "./TokenRepo.ts"

/** The store refunds what is unacknowledged for three days: tried again often. */
const nextRetry = Duration.minutes(15)
const batch = 50
const callsAtOnce = 5

/** Tells store B that purchases were given to the customer, until it knows (contract, part 3, "Receipts"). */
export class Acknowledgements extends Context.Tag("gatehouse/subscription/Acknowledgements")<
  Acknowledgements,
  {
    /** Does nothing for a purchase that waits for no acknowledgement. A failure leaves it due. */
    readonly acknowledge: (app: App, purchaseToken: string) => Effect.Effect<void>
    /** Acknowledges what is overdue; answers how many purchases were tried. */
    readonly acknowledgeDue: (app: App) => Effect.Effect<number>
  }
>() {
  static readonly layer = Layer.effect(
    Acknowledgements,
    Effect.gen(function* () {
      const storeB = yield* StoreB
      const tokens = yield* TokenRepo

      const staysDue = (failure: StoreBFailure) =>
        Effect.annotateLogs(Effect.logWarning("a purchase could not be acknowledged and stays due"), {
          store: "store_b",
          trouble: failure._tag,
          reason: failure._tag === "PurchaseUnknown" ? "the store knows no such purchase" : sentenceOf(failure)
        })

      const acknowledge = Effect.fn("Acknowledgements.acknowledge")(function* (app: App, purchaseToken: string) {
        const known = yield* tokens.find({ appId: app.id, purchaseToken })
        if (Option.isNone(known) || Option.isSome(known.value.acknowledgedAt)) return
        const { productId, type } = known.value
        if (Option.isNone(productId)) return
        yield* storeB
          .acknowledge(app, { purchaseToken, type, productId: productId.value })
          .pipe(
            Effect.zipRight(Effect.flatMap(DateTime.now, (now) => tokens.acknowledged(app.id, purchaseToken, now))),
            Effect.catchAll(staysDue)
          )
      })

      const acknowledgeDue = Effect.fn("Acknowledgements.acknowledgeDue")(function* (app: App) {
        const now = yield* DateTime.now
        const retryAt = DateTime.addDuration(now, nextRetry)
        const due = yield* tokens.takeDue({ appId: app.id, now, retryAt, limit: batch })
        yield* Effect.forEach(due, ({ purchaseToken }) => acknowledge(app, purchaseToken), {
          concurrency: callsAtOnce,
          discard: true
        })
        return due.length
      })

      return Acknowledgements.of({ acknowledge, acknowledgeDue })
    })
  ).pipe(Layer.provide(TokenRepo.Default))
}
