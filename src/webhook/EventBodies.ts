import { Context, Effect, Layer } from "effect"
import { EventBodyRepo } from "./EventBodyRepo.ts"

/**
 * What was, or is yet to be, told to the outside, changed afterwards: the one exception to bodies being fixed when they
 * are published, for a person's right to be forgotten.
 */
export class EventBodies extends Context.Tag("gatehouse/webhook/EventBodies")<
  EventBodies,
  {
    /**
     * Rewrites the bodies of events (by event id; whoever is not there any more is passed over) and drops what receivers
     * answered to them, inside the caller's transaction. A delivery that waits is sent with the new body.
     */
    readonly rewrite: (eventIds: ReadonlyArray<string>, change: (body: unknown) => unknown) => Effect.Effect<void>
  }
>() {
  static readonly layer = Layer.effect(
    EventBodies,
    Effect.map(EventBodyRepo, (repo) =>
      EventBodies.of({
        rewrite: Effect.fn("EventBodies.rewrite")(function* (eventIds, change) {
          if (eventIds.length === 0) return
          const bodies = yield* repo.byIds(eventIds)
          yield* repo.save(bodies.map(({ body, id }) => ({ id, body: change(body) })))
          yield* repo.forgetAnswers(eventIds)
        })
      })
    )
  ).pipe(Layer.provide(EventBodyRepo.Default))
}
