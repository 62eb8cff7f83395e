import { Entity } from "@effect/cluster"
import { Rpc } from "@effect/rpc"
import { Effect, Queue } from "effect"
import { supervise } from "../../kit/Supervise.ts"
import { Dispatch } from "../Dispatch.ts"
import { EndpointId } from "../domain/Webhook.ts"
import { deliveryLoop } from "./DeliveryLoop.ts"

/** One entity per endpoint: the only sender of its deliveries, wherever it runs. `Wake` says that something is due. */
export const EndpointEntity = Entity.make("Endpoint", [Rpc.make("Wake")])

/** Rests when nothing woke it for this long; the due rows bring it back. */
const maxIdleTime = "10 minutes"

export const layer = EndpointEntity.toLayer(
  Effect.gen(function* () {
    const address = yield* Entity.CurrentAddress
    const dispatch = yield* Dispatch
    const wake = yield* Queue.sliding<void>(1)
    const loop = deliveryLoop(EndpointId.make(address.entityId), wake)
    yield* Effect.forkScoped(supervise("DeliveryLoop", Effect.provideService(loop, Dispatch, dispatch)))
    return EndpointEntity.of({ Wake: () => Effect.asVoid(Queue.offer(wake, undefined)) })
  }),
  { maxIdleTime }
)
