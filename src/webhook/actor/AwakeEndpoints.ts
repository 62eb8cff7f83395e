import { Context, Deferred, Effect, FiberId, Layer, Queue, type Scope } from "effect"
import type { EndpointId } from "../domain/Webhook.ts"

/**
 * The delivery loops of this process. One that is still finishing when its successor starts is waited for, and one that
 * runs hears of new rows directly, without a message to its entity for each event.
 */
export class AwakeEndpoints extends Context.Tag("gatehouse/webhook/actor/AwakeEndpoints")<
  AwakeEndpoints,
  {
    /** Waits until no other loop of this process serves the endpoint, and keeps others waiting until the scope ends. */
    readonly own: (id: EndpointId) => Effect.Effect<void, never, Scope.Scope>
    /** A queue on which `rouse` is heard. */
    readonly listen: (id: EndpointId) => Effect.Effect<Queue.Queue<void>, never, Scope.Scope>
    /** False when nobody listens here. */
    readonly rouse: (id: EndpointId) => boolean
  }
>() {
  static readonly layer = Layer.sync(AwakeEndpoints, () => {
    const owned = new Map<EndpointId, Deferred.Deferred<void>>()
    const listening = new Map<EndpointId, Queue.Queue<void>>()

    const claim = (id: EndpointId): Effect.Effect<Deferred.Deferred<void>> =>
      Effect.suspend(() => {
        const other = owned.get(id)
        if (other !== undefined) return Effect.zipRight(Deferred.await(other), claim(id))
        const mine = Deferred.unsafeMake<void>(FiberId.none)
        owned.set(id, mine)
        return Effect.succeed(mine)
      })

    return AwakeEndpoints.of({
      own: (id) =>
        Effect.acquireRelease(claim(id), (mine) =>
          Effect.zipRight(
            Effect.sync(() => owned.delete(id)),
            Deferred.succeed(mine, undefined)
          )
        ).pipe(Effect.asVoid),
      listen: (id) =>
        Effect.acquireRelease(
          Effect.tap(Queue.sliding<void>(1), (queue) => Effect.sync(() => listening.set(id, queue))),
          () => Effect.sync(() => listening.delete(id))
        ),
      rouse: (id) => {
        const queue = listening.get(id)
        queue?.unsafeOffer(undefined)
        return queue !== undefined
      }
    })
  })
}
