import { Layer } from "effect"
import { AwakeEndpoints } from "./actor/AwakeEndpoints.ts"
import * as EndpointEntity from "./actor/EndpointEntity.ts"
import * as WakeEndpoints from "./actor/WakeEndpoints.ts"
import { Attempt } from "./Attempt.ts"
import { Backlog } from "./Backlog.ts"
import { Deliveries } from "./Deliveries.ts"
import { DeliveryRepo } from "./DeliveryRepo.ts"
import { Dispatch } from "./Dispatch.ts"
import { DueRepo } from "./DueRepo.ts"
import { EndpointRepo } from "./EndpointRepo.ts"
import { Endpoints } from "./Endpoints.ts"
import { EventBodies } from "./EventBodies.ts"
import { EventFeed } from "./EventFeed.ts"
import * as OutboxSql from "./OutboxSql.ts"
import { QueueRepo } from "./QueueRepo.ts"
import { ReplayRepo } from "./ReplayRepo.ts"
import type { TargetPolicy } from "./TargetGuard.ts"
import { UnderWay } from "./UnderWay.ts"

const repos = Layer.mergeAll(
  EndpointRepo.Default,
  DeliveryRepo.Default,
  QueueRepo.Default,
  DueRepo.Default,
  ReplayRepo.Default,
  UnderWay.Default
)

/** The whole context: `Outbox`, `Endpoints`, `Deliveries` and the actors that send. */
export const layer = (policy: TargetPolicy) => {
  const actors = Layer.mergeAll(EndpointEntity.layer, WakeEndpoints.layer).pipe(
    Layer.provide([Dispatch.layer.pipe(Layer.provide(Attempt.layer(policy))), Backlog.layer])
  )
  return Layer.mergeAll(Endpoints.layer(policy), Deliveries.layer, EventBodies.layer, EventFeed.layer, actors).pipe(
    Layer.provideMerge(OutboxSql.layer),
    Layer.provide(WakeEndpoints.waker),
    Layer.provide(AwakeEndpoints.layer),
    Layer.provide(repos)
  )
}
