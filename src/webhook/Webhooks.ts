import { Layer } from "effect"
import * as EndpointEntity from "./actor/EndpointEntity.ts"
import * as WakeEndpoints from "./actor/WakeEndpoints.ts"
import { Attempt } from "./Attempt.ts"
import { Deliveries } from "./Deliveries.ts"
import { DeliveryRepo } from "./DeliveryRepo.ts"
import { Dispatch } from "./Dispatch.ts"
import { EndpointRepo } from "./EndpointRepo.ts"
import { Endpoints } from "./Endpoints.ts"
import * as OutboxSql from "./OutboxSql.ts"

const repos = Layer.mergeAll(EndpointRepo.Default, DeliveryRepo.Default)

/** The whole context: outbox, endpoints, deliveries and the actors that send. */
export const layer = (options: { readonly allowPrivate: boolean }) => {
  const actors = Layer.mergeAll(EndpointEntity.layer, WakeEndpoints.layer).pipe(
    Layer.provide(Dispatch.layer.pipe(Layer.provide(Attempt.layer(options))))
  )
  return Layer.mergeAll(OutboxSql.layer, Endpoints.layer(options), Deliveries.layer, actors).pipe(
    Layer.provide(WakeEndpoints.waker),
    Layer.provide(repos)
  )
}
