import { Context, type Effect } from "effect"
import type { EndpointId } from "./domain/Webhook.ts"

/** Port: tells the owners of endpoints that something changed for them. A hint: the rows are the truth. */
export class EndpointWaker extends Context.Tag("gatehouse/webhook/EndpointWaker")<
  EndpointWaker,
  { readonly wake: (ids: Iterable<EndpointId>) => Effect.Effect<void> }
>() {}
