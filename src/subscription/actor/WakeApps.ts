import { Singleton } from "@effect/cluster"
import { type Duration, Effect, Layer, Schedule } from "effect"
import { supervise } from "../../kit/Supervise.ts"
import { AppAgenda } from "../AppAgenda.ts"
import { CatchUps } from "../CatchUps.ts"
import { AppEntity } from "./AppEntity.ts"

const callsAtOnce = 8
const answersWithin = "10 seconds"

/** Wakes the apps that have something due: how late they are is at most the time between two looks. */
export const layer = (options: { readonly every: Duration.DurationInput }) =>
  Layer.unwrapEffect(
    Effect.gen(function* () {
      const agenda = yield* AppAgenda
      const catchUps = yield* CatchUps
      const clientOf = yield* AppEntity.client

      const wakeDue = Effect.flatMap(agenda.appsDue, (due) =>
        Effect.forEach(
          due,
          (id) =>
            clientOf(id)
              .Wake()
              .pipe(
                Effect.timeout(answersWithin),
                Effect.catchAll((error) => Effect.logDebug("an app could not be woken", error))
              ),
          { concurrency: callsAtOnce, discard: true }
        )
      )
      const looking = Effect.repeat(wakeDue, Schedule.spaced(options.every))
      const planning = Effect.zipRight(catchUps.planAll, Effect.repeat(catchUps.planNew, Schedule.spaced("1 minute")))
      return Layer.merge(
        Singleton.make("WakeApps", Effect.asVoid(supervise("WakeApps", looking))),
        Singleton.make("PlanCatchUps", Effect.asVoid(supervise("PlanCatchUps", planning)))
      )
    })
  )
