import { Context, DateTime, Duration, Effect, Layer, Option } from "effect"
import type { App } from "../catalog/domain/App.ts"
import type { PurchaseFact } from "../store/domain/PurchaseFact.ts"
import { StorePurchases } from "../store/StorePurchases.ts"
import { sentenceOf, type StoreTrouble } from "../store/StoreTrouble.ts"
import { Outbox } from "../webhook/Outbox.ts"
import { AgendaRepo, type EndedSubscription } from "./AgendaRepo.ts"
import { lapse, lookAt } from "./domain/Agenda.ts"
import { Purchases } from "./Purchases.ts"
import { StoreBReadings } from "./StoreBReadings.ts"
import { TokenRepo } from "./TokenRepo.ts"

const batch = 100
const questionsAtOnce = 5
const lease = Duration.minutes(15)

/**
 * Subscriptions whose end has come without word of a renewal (contract, part 3, "Subscription states"): the store is
 * asked, and what it says is applied. Where it cannot be asked for lack of a credential, or does not know the purchase
 * any more, the clock ends them.
 */
export class Expiries extends Context.Tag("gatehouse/subscription/Expiries")<
  Expiries,
  {
    /** Answers how many subscriptions were looked at. */
    readonly look: (app: App) => Effect.Effect<number>
  }
>() {
  static readonly layer = Layer.effect(
    Expiries,
    Effect.gen(function* () {
      const agenda = yield* AgendaRepo
      const tokens = yield* TokenRepo
      const stores = yield* StorePurchases
      const readings = yield* StoreBReadings
      const purchases = yield* Purchases
      const outbox = yield* Outbox

      const applied = (app: App, fact: PurchaseFact) =>
        Effect.catchTag(outbox.transaction(purchases.apply(app.id, fact)), "SqlError", Effect.die)

      const end = Effect.fn("Expiries.end")(function* (app: App, { id, state }: EndedSubscription) {
        const last = yield* agenda.latestFact(id)
        const now = yield* DateTime.now
        const fact = Option.flatMap(last, (row) => lapse(state, row.fact, now))
        if (Option.isSome(fact)) yield* applied(app, fact.value)
      })

      const askStoreA = Effect.fn("Expiries.askStoreA")(function* (app: App, { state }: EndedSubscription) {
        yield* applied(app, yield* stores.ofStoreA(app, state.originalTransactionId))
      })

      const askStoreB = Effect.fn("Expiries.askStoreB")(function* (app: App, { id, state }: EndedSubscription) {
        const now = yield* DateTime.now
        const token = yield* tokens.ofChain({ appId: app.id, originalTransactionId: state.originalTransactionId })
        if (Option.isNone(token)) return yield* end(app, { id, state })
        const factId = `look:${id}:${DateTime.toEpochMillis(now)}`
        const subject = { type: "subscription", kind: "observed", voidedOrder: Option.none<string>() } as const
        yield* readings.look(app, { ...subject, ...token.value, factId, since: now }, () => Effect.void)
      })

      const isInTheWay = (trouble: StoreTrouble) =>
        Effect.annotateLogs(Effect.logWarning("a store could not be asked whether a subscription goes on"), {
          trouble: trouble._tag,
          reason: sentenceOf(trouble)
        })

      const ask = (app: App, ended: EndedSubscription) => {
        const question = ended.state.store === "store_b" ? askStoreB(app, ended) : askStoreA(app, ended)
        return question.pipe(
          Effect.catchTags({ NoCredential: () => end(app, ended), PurchaseUnknown: () => end(app, ended) }),
          Effect.catchAll(isInTheWay)
        )
      }

      const look = Effect.fn("Expiries.look")(function* (app: App) {
        const now = yield* DateTime.now
        const leaseUntil = DateTime.addDuration(now, lease)
        const ended = yield* agenda.takeEnded({ appId: app.id, now, leaseUntil, limit: batch })
        const askAndLeave = (each: EndedSubscription) =>
          Effect.zipRight(ask(app, each), agenda.lookAgainAt({ id: each.id, leaseUntil, at: lookAt(each.state, now) }))
        yield* Effect.forEach(ended, askAndLeave, { concurrency: questionsAtOnce, discard: true })
        return ended.length
      })

      return Expiries.of({ look })
    })
  ).pipe(Layer.provide([AgendaRepo.Default, TokenRepo.Default]))
}
