import { Entity } from "@effect/cluster"
import { Rpc } from "@effect/rpc"
import { Effect } from "effect"
import { supervise } from "../../kit/Supervise.ts"
import { Dispatch } from "../Dispatch.ts"
import { EndpointId } from "../domain/Webhook.ts"
import { AwakeEndpoints } from "./AwakeEndpoints.ts"
import { deliveryLoop } from "./DeliveryLoop.ts"

/** One entity per endpoint: the only sender of its deliveries, wherever it runs. `Wake` says that something changed. */
export const EndpointEntity = Entity.make("Endpoint", [Rpc.make("Wake")])

/** Rests when no message came for this long; the due rows bring it back. */
const maxIdleTime = "10 minutes"

export const layer = EndpointEntity.toLayer(
  Effect.gen(function* () {
    const address = yield* Entity.CurrentAddress
    const dispatch = yield* Dispatch
    const awake = yield* AwakeEndpoints
    const id = EndpointId.make(address.entityId)
    const loop = Effect.zipRight(
      awake.own(id),
      deliveryLoop(id, (intake) => awake.listen(id, intake))
    ).pipe(Effect.scoped, Effect.provideService(Dispatch, dispatch))
    yield* Effect.forkScoped(supervise("DeliveryLoop", loop))
    return EndpointEntity.of({ Wake: () => Effect.sync(() => void awake.rouse(id)) })
  }),
  { maxIdleTime }
)
