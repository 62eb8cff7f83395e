import { Context, DateTime, Duration, Effect, Layer, Metric, Option } from "effect"
import { webhookBacklog, webhookCircuits, webhookOldest } from "../Metrics.ts"
import { type CircuitState, stateAt } from "./domain/Circuit.ts"
import type { EndpointId } from "./domain/Webhook.ts"
import { DueRepo } from "./DueRepo.ts"

/** A delivery that has been due for longer, to a target that is not being spared, is late. */
const patience = Duration.minutes(1)

const circuits = {
  open: Metric.tagged(webhookCircuits, "state", "open"),
  half_open: Metric.tagged(webhookCircuits, "state", "half_open")
}

/** Everything that waits to be sent, seen from above. */
export class Backlog extends Context.Tag("gatehouse/webhook/Backlog")<
  Backlog,
  {
    /** The endpoints that have something to send until then, removed ones too; what is seen is measured on the way. */
    readonly due: (until: DateTime.Utc) => Effect.Effect<ReadonlyArray<EndpointId>>
  }
>() {
  static readonly layer = Layer.effect(
    Backlog,
    Effect.gen(function* () {
      const repo = yield* DueRepo
      let wasLate = false

      const tell = (oldest: number) => {
        const isLate = oldest > Duration.toSeconds(patience)
        const changed = isLate !== wasLate
        wasLate = isLate
        if (!changed) return Effect.void
        const log = isLate
          ? Effect.logWarning("webhook deliveries are late")
          : Effect.logInfo("webhook deliveries are in time again")
        return Effect.annotateLogs(log, { oldestSeconds: Math.round(oldest) })
      }

      const due = Effect.fn("Backlog.due")(function* (until: DateTime.Utc) {
        const now = yield* DateTime.now
        const waiting = yield* repo.waiting()
        const states = waiting.map(({ pausedUntil }): CircuitState => stateAt({ until: pausedUntil }, now))
        const moments = waiting
          .filter(({ pausedUntil }) => Option.isNone(pausedUntil))
          .map(({ dueAt }) => DateTime.distance(dueAt, now) / 1000)
        const oldest = moments.reduce((longest, seconds) => Math.max(longest, seconds), 0)
        yield* Metric.set(webhookBacklog, yield* repo.backlog(now))
        yield* Metric.set(webhookOldest, oldest)
        for (const state of ["open", "half_open"] as const) {
          yield* Metric.set(circuits[state], states.filter((other) => other === state).length)
        }
        yield* tell(oldest)
        return waiting
          .filter(({ dueAt, pausedUntil }) =>
            DateTime.lessThanOrEqualTo(
              Option.getOrElse(
                Option.map(pausedUntil, (moment) => DateTime.max(moment, dueAt)),
                () => dueAt
              ),
              until
            )
          )
          .map(({ endpointId }) => endpointId)
      })
      return Backlog.of({ due })
    })
  )
}
