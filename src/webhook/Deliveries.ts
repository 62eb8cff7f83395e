import { Context, Data, DateTime, Effect, Layer, Option, Schema } from "effect"
import { DeliveryRepo } from "./DeliveryRepo.ts"
import { Delivery } from "./domain/Delivery.ts"
import type { DeliveryState, OwnerKind } from "./domain/Webhook.ts"
import { EndpointRepo } from "./EndpointRepo.ts"
import { EndpointInactive } from "./Endpoints.ts"
import { Outbox } from "./Outbox.ts"
import { UnderWay } from "./UnderWay.ts"

const isId = Schema.is(Schema.UUID)

export class DeliveryNotFound extends Data.TaggedError("DeliveryNotFound")<{}> {}
/** The delivery is being sent just now. */
export class DeliveryBusy extends Data.TaggedError("DeliveryBusy")<{}> {}

export interface DeliveryQuery {
  readonly ownerKind: OwnerKind
  readonly ownerId: Option.Option<string>
  readonly endpointId: Option.Option<string>
  readonly event: Option.Option<string>
  readonly state: Option.Option<DeliveryState>
  /** The id at which the page before ended. */
  readonly before: Option.Option<string>
  readonly limit: number
}

/** The delivery history of both APIs, newest first, with every attempt. */
export class Deliveries extends Context.Tag("gatehouse/webhook/Deliveries")<
  Deliveries,
  {
    readonly page: (query: DeliveryQuery) => Effect.Effect<ReadonlyArray<Delivery>>
    /** None of the other side: an app's delivery is no delivery of an account. */
    readonly byId: (ownerKind: OwnerKind, id: string) => Effect.Effect<Delivery, DeliveryNotFound>
    /** In no order; whatever is not there any more is left out. */
    readonly byIds: (ownerKind: OwnerKind, ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Delivery>>
    /**
     * Makes a delivery due now, whatever became of it: the attempt counts like any other. An endpoint that is spared lets
     * one try.
     */
    readonly retry: (delivery: Delivery) => Effect.Effect<Delivery, DeliveryNotFound | DeliveryBusy | EndpointInactive>
  }
>() {
  static readonly layer = Layer.effect(
    Deliveries,
    Effect.gen(function* () {
      const repo = yield* DeliveryRepo
      const endpoints = yield* EndpointRepo
      const outbox = yield* Outbox
      const { ids: underWay } = yield* UnderWay

      const shown = (delivery: Delivery) =>
        underWay.has(delivery.id) ? Delivery.make({ ...delivery, state: "delivering" }) : delivery

      const byId = Effect.fn("Deliveries.byId")(function* (ownerKind: OwnerKind, id: string) {
        const found = isId(id) ? yield* repo.byId(id) : Option.none()
        const own = Option.filter(found, (delivery) => delivery.ownerKind === ownerKind)
        return yield* Option.match(own, {
          onNone: () => new DeliveryNotFound(),
          onSome: (delivery) => Effect.succeed(shown(delivery))
        })
      })

      const retry = Effect.fn("Deliveries.retry")(function* ({ endpointId, id, ownerKind }: Delivery) {
        const endpoint = yield* endpoints.byId(endpointId)
        if (!Option.exists(endpoint, ({ isActive }) => isActive)) return yield* new EndpointInactive()
        if (underWay.has(id)) return yield* new DeliveryBusy()
        const now = yield* DateTime.now
        const isDue = yield* repo.makeDue(id, now)
        if (!isDue) return yield* new DeliveryBusy()
        yield* endpoints.probe(endpointId, now)
        const delivery = yield* byId(ownerKind, id)
        yield* outbox.wake([endpointId])
        return delivery
      })

      return Deliveries.of({
        page: (query) =>
          repo
            .page({
              ownerKind: query.ownerKind,
              ownerId: Option.getOrNull(query.ownerId),
              endpointId: Option.getOrNull(query.endpointId),
              event: Option.getOrNull(query.event),
              state: Option.getOrNull(query.state),
              underWay: [...underWay],
              before: Option.getOrNull(query.before),
              limit: query.limit
            })
            .pipe(Effect.map((rows) => rows.map(shown))),
        byId,
        byIds: (ownerKind, ids) =>
          ids.length === 0 ? Effect.succeed([]) : Effect.map(repo.byIds({ ownerKind, ids }), (rows) => rows.map(shown)),
        retry
      })
    })
  )
}
