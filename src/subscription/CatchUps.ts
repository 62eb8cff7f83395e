import { Context, DateTime, Duration, Effect, Layer, Option, Ref, Stream } from "effect"
import type { App } from "../catalog/domain/App.ts"
import { Credentials } from "../store/Credentials.ts"
import type { Environment } from "../store/domain/PurchaseFact.ts"
import { StorePurchases } from "../store/StorePurchases.ts"
import { sentenceOf, type StoreTrouble } from "../store/StoreTrouble.ts"
import { CatchUpRepo } from "./CatchUpRepo.ts"
import { pauseAfter } from "./domain/Agenda.ts"
import { Notifications } from "./Notifications.ts"

/** What the store signed just before the program went may not have come. */
const overlap = Duration.minutes(10)
const lease = Duration.minutes(30)

/**
 * Asks store A for what it told while nobody listened (contract, part 3, "Store notifications": after a downtime). Where
 * an app stands is a row that moves on with the clock while the program runs, so that a downtime is the time since then.
 */
export class CatchUps extends Context.Tag("gatehouse/subscription/CatchUps")<
  CatchUps,
  {
    /** At the start of the program: every app that can call the store is to be caught up. */
    readonly planAll: Effect.Effect<void>
    /** While it runs: those that got a credential since then, from the beginning of the app. */
    readonly planNew: Effect.Effect<void>
    /** Answers how many notifications were new. What fails is due again. */
    readonly catchUp: (app: App) => Effect.Effect<number>
  }
>() {
  static readonly layer = Layer.effect(
    CatchUps,
    Effect.gen(function* () {
      const repo = yield* CatchUpRepo
      const credentials = yield* Credentials
      const stores = yield* StorePurchases
      const notifications = yield* Notifications

      const planned = (plan: typeof repo.planAll) =>
        Effect.flatMap(Effect.all([credentials.appsOf("store_a"), DateTime.now]), ([apps, now]) => plan(apps, now))

      const receive = Effect.fn("CatchUps.receive")(function* (app: App, signedPayload: string) {
        const { status } = yield* notifications.receivePast(app, signedPayload)
        return status === "accepted" ? 1 : 0
      })

      const fetched = Effect.fn("CatchUps.fetched")(function* (
        app: App,
        environment: Environment,
        range: { readonly from: DateTime.Utc; readonly to: DateTime.Utc }
      ) {
        const count = yield* Ref.make(0)
        yield* Stream.runForEach(stores.notificationsOfStoreA(app, environment, range), (signedPayload) =>
          receive(app, signedPayload).pipe(
            Effect.catchTag("NotificationRefused", () => Effect.succeed(0)),
            Effect.flatMap((added) => Ref.update(count, (known) => known + added))
          )
        )
        return yield* Ref.get(count)
      })

      const isInTheWay = (environment: Environment, trouble: StoreTrouble) =>
        Effect.annotateLogs(Effect.logWarning("store A could not be asked for what it told"), {
          environment,
          reason: sentenceOf(trouble)
        })

      const catchUp = Effect.fn("CatchUps.catchUp")(function* (app: App) {
        const now = yield* DateTime.now
        const due = yield* repo.takeDue({ appId: app.id, now, leaseUntil: DateTime.addDuration(now, lease) })
        const counts = yield* Effect.forEach(due, ({ attempts, caughtUpTo, environment }) => {
          const place = { appId: app.id, environment }
          const from = Option.match(caughtUpTo, {
            onNone: () => app.createdAt,
            onSome: (moment) => DateTime.subtractDuration(moment, overlap)
          })
          return fetched(app, environment, { from, to: now }).pipe(
            Effect.tap(() => repo.caughtUp({ ...place, to: now })),
            Effect.catchTag("NoCredential", () => Effect.as(repo.forget(place), 0)),
            Effect.catchAll((trouble) => {
              const asked = trouble._tag === "StoreLimited" ? Option.some(trouble.retryAfter) : Option.none()
              const dueAt = DateTime.addDuration(now, pauseAfter(attempts, asked))
              return Effect.zipRight(isInTheWay(environment, trouble), Effect.as(repo.postpone({ ...place, dueAt }), 0))
            })
          )
        })
        const added = counts.reduce((sum, count) => sum + count, 0)
        if (added > 0) {
          yield* Effect.annotateLogs(Effect.logInfo("store notifications that were missed were applied"), { added })
        }
        return added
      })

      return CatchUps.of({ planAll: planned(repo.planAll), planNew: planned(repo.planNew), catchUp })
    })
  ).pipe(Layer.provide(CatchUpRepo.Default))
}
