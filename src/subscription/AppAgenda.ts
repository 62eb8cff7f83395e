import { Context, DateTime, Duration, Effect, Layer, Option } from "effect"
import { Apps } from "../catalog/Apps.ts"
import type { App, AppId } from "../catalog/domain/App.ts"
import { Acknowledgements } from "./Acknowledgements.ts"
import { AgendaRepo } from "./AgendaRepo.ts"
import { CatchUps } from "./CatchUps.ts"
import { Expiries } from "./Expiries.ts"
import { Notifications } from "./Notifications.ts"
import { StoreBNotifications } from "./StoreBNotifications.ts"

const appsAtOnce = 1000
const batch = 50
const appliedAtOnce = 5
const lease = Duration.minutes(5)

/**
 * What an app has to do by itself, because a moment has come: notifications to apply again, subscriptions that came to
 * their end, purchases to acknowledge, what was missed in a downtime. Every due moment is a row; whoever takes a row
 * keeps it from others for a while.
 */
export class AppAgenda extends Context.Tag("gatehouse/subscription/AppAgenda")<
  AppAgenda,
  {
    readonly appsDue: Effect.Effect<ReadonlyArray<AppId>>
    /** Does one batch of everything that is due. Answers how much that was: nothing is left when it was none. */
    readonly work: (id: AppId) => Effect.Effect<number>
  }
>() {
  static readonly layer = Layer.effect(
    AppAgenda,
    Effect.gen(function* () {
      const apps = yield* Apps
      const agenda = yield* AgendaRepo
      const storeA = yield* Notifications
      const storeB = yield* StoreBNotifications
      const acknowledgements = yield* Acknowledgements
      const expiries = yield* Expiries
      const catchUps = yield* CatchUps

      const applyWaiting = Effect.fn("AppAgenda.applyWaiting")(function* (app: App) {
        const now = yield* DateTime.now
        const leaseUntil = DateTime.addDuration(now, lease)
        const waiting = yield* agenda.takeNotifications({ appId: app.id, now, leaseUntil, limit: batch })
        yield* Effect.forEach(
          waiting,
          (each) => (each.store === "store_b" ? storeB.again(app, each) : storeA.again(app, each)),
          { concurrency: appliedAtOnce, discard: true }
        )
        return waiting.length
      })

      const work = Effect.fn("AppAgenda.work")(function* (id: AppId) {
        const app = yield* apps.byId(id)
        if (Option.isNone(app)) return 0
        const done = yield* Effect.all([
          catchUps.catchUp(app.value),
          applyWaiting(app.value),
          expiries.look(app.value),
          acknowledgements.acknowledgeDue(app.value)
        ])
        return done.reduce((sum, count) => sum + count, 0)
      })

      const appsDue = Effect.flatMap(DateTime.now, (now) => agenda.appsDue({ now, limit: appsAtOnce }))

      return AppAgenda.of({ appsDue, work })
    })
  ).pipe(Layer.provide(AgendaRepo.Default))
}
