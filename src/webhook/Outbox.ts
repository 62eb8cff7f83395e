import type { SqlError } from "@effect/sql"
import { Context, DateTime, type Effect } from "effect"
import type { EndpointId, Owner } from "./domain/Webhook.ts"

/**
 * An event to be told to the outside. `eventId` stays the same over all attempts. `data` is what the body carries under
 * `data`, already in wire form (snake_case, ISO times): the raw body is fixed when the event is published.
 */
export interface OutboundEvent {
  readonly eventId: string
  readonly owner: Owner
  readonly event: string
  readonly timestamp: DateTime.Utc
  readonly data: unknown
}

const ownerField: { readonly [Kind in Owner["kind"]]: string } = { app: "app_id", account: "account_id" }

/** The raw body, fixed for all attempts when the event is published: member order is that of the specification. */
export const bodyOf = ({ data, event, owner, timestamp }: OutboundEvent): string =>
  JSON.stringify({ event, [ownerField[owner.kind]]: owner.id, timestamp: DateTime.formatIso(timestamp), data })

/**
 * Port: the transactional outbox (contract, part 4 "Webhooks", part 5 promises 1 and 2).
 *
 * `transaction` runs an effect in one database transaction (joining the one that is open) and, once it has committed,
 * wakes the endpoints that got something. `publish` writes events and one delivery row for each active endpoint that
 * subscribes, inside the caller's transaction: the event exists exactly when the change does. Callers that have none
 * share one with those that publish at the same time. Whoever opens the outermost transaction has to do so here: nobody is woken before a commit.
 */
export class Outbox extends Context.Tag("gatehouse/webhook/Outbox")<
  Outbox,
  {
    readonly transaction: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | SqlError.SqlError, R>
    readonly publish: (events: ReadonlyArray<OutboundEvent>) => Effect.Effect<void>
    /**
     * An SQL condition, for who reads anyway: whether the owner has an active endpoint, without which nobody is told.
     * `owner` is SQL, too: a parameter or a column.
     */
    readonly isHeard: (owner: string) => string
    /** Tells endpoints that they or their deliveries were changed: after the commit where a transaction is open. */
    readonly wake: (ids: ReadonlyArray<EndpointId>) => Effect.Effect<void>
  }
>() {}
