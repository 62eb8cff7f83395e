import { Context, Deferred, Effect, FiberId, Layer, Option, Queue, type Scope } from "effect"
import type { DueDelivery } from "../domain/Delivery.ts"
import type { EndpointId } from "../domain/Webhook.ts"

type Deliveries = ReadonlyArray<DueDelivery>

/** How a loop takes rows over from memory. What it refuses, and what it never reserved, is found by reading. */
export interface Intake {
  readonly reserve: (deliveries: Deliveries) => boolean
  readonly take: (reserved: Deliveries) => boolean
  readonly withdraw: (reserved: Deliveries) => void
}

/**
 * The delivery loops of this process. One that is still finishing when its successor starts is waited for, and one that
 * runs hears of new rows directly, without a message to its entity for each event.
 */
export class AwakeEndpoints extends Context.Tag("gatehouse/webhook/actor/AwakeEndpoints")<
  AwakeEndpoints,
  {
    /** Waits until no other loop of this process serves the endpoint, and keeps others waiting until the scope ends. */
    readonly own: (id: EndpointId) => Effect.Effect<void, never, Scope.Scope>
    /** A queue on which `rouse` is heard; `intake` is in use as long as the scope lasts. */
    readonly listen: (id: EndpointId, intake: Intake) => Effect.Effect<Queue.Queue<void>, never, Scope.Scope>
    /** False when nobody listens here. */
    readonly rouse: (id: EndpointId) => boolean
    /** The intake of the loop that runs here. */
    readonly intake: (id: EndpointId) => Option.Option<Intake>
  }
>() {
  static readonly layer = Layer.sync(AwakeEndpoints, () => {
    const owned = new Map<EndpointId, Deferred.Deferred<void>>()
    const listening = new Map<EndpointId, { readonly bell: Queue.Queue<void>; readonly intake: Intake }>()

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
      listen: (id, intake) =>
        Effect.acquireRelease(
          Effect.tap(Queue.sliding<void>(1), (bell) => Effect.sync(() => listening.set(id, { bell, intake }))),
          () => Effect.sync(() => listening.delete(id))
        ),
      rouse: (id) => {
        const loop = listening.get(id)
        loop?.bell.unsafeOffer(undefined)
        return loop !== undefined
      },
      intake: (id) => Option.map(Option.fromNullable(listening.get(id)), ({ intake }) => intake)
    })
  })
}
