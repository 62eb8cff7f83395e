import { Context, type Effect } from "effect"
import type { DueDelivery } from "./domain/Delivery.ts"
import type { EndpointId } from "./domain/Webhook.ts"

type Deliveries = ReadonlyArray<DueDelivery>

/**
 * Port: tells the owners of endpoints that something changed for them, all of it hints: the rows are the truth.
 *
 * New rows need not be read back: within the transaction that writes them they are reserved, after its commit handed
 * over, or withdrawn when it fails. In between no reader of the table takes them.
 */
export class EndpointWaker extends Context.Tag("gatehouse/webhook/EndpointWaker")<
  EndpointWaker,
  {
    readonly wake: (ids: Iterable<EndpointId>) => Effect.Effect<void>
    /** False when nobody here has room for them: then waking is all that can be done. */
    readonly reserve: (id: EndpointId, deliveries: Deliveries) => Effect.Effect<boolean>
    /** Wakes where those who had reserved them are gone. */
    readonly handOver: (reserved: ReadonlyMap<EndpointId, Deliveries>) => Effect.Effect<void>
    readonly withdraw: (reserved: ReadonlyMap<EndpointId, Deliveries>) => Effect.Effect<void>
  }
>() {}
