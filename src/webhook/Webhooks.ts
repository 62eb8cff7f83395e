import { Layer } from "effect"
import { AwakeEndpoints } from "./actor/AwakeEndpoints.ts"
import * as EndpointEntity from "./actor/EndpointEntity.ts"
import * as WakeEndpoints from "./actor/WakeEndpoints.ts"
import { Attempt } from "./Attempt.ts"
import { Deliveries } from "./Deliveries.ts"
import { DeliveryRepo } from "./DeliveryRepo.ts"
import { Dispatch } from "./Dispatch.ts"
import { EndpointRepo } from "./EndpointRepo.ts"
import { Endpoints } from "./Endpoints.ts"
import * as OutboxSql from "./OutboxSql.ts"
import { QueueRepo } from "./QueueRepo.ts"
import type { TargetPolicy } from "./TargetGuard.ts"

const repos = Layer.mergeAll(EndpointRepo.Default, DeliveryRepo.Default, QueueRepo.Default)

/** The whole context: `Outbox`, `Endpoints`, `Deliveries` and the actors that send. */
export const layer = (policy: TargetPolicy) => {
  const actors = Layer.mergeAll(EndpointEntity.layer, WakeEndpoints.layer).pipe(
    Layer.provide(Dispatch.layer.pipe(Layer.provide(Attempt.layer(policy))))
  )
  return Layer.mergeAll(Endpoints.layer(policy), Deliveries.layer, actors).pipe(
    Layer.provideMerge(OutboxSql.layer),
    Layer.provide(WakeEndpoints.waker),
    Layer.provide(AwakeEndpoints.layer),
    Layer.provide(repos)
  )
}
