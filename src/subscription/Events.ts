import { Context, DateTime, Effect, Layer, Option } from "effect"
import type { AppId } from "../catalog/domain/App.ts"
import type { StoreName } from "../catalog/domain/Product.ts"
import { idAt, nextId } from "../kit/Id.ts"
import type { Environment } from "../store/domain/PurchaseFact.ts"
import { Outbox } from "../webhook/Outbox.ts"
import type { AppUserId } from "./domain/Customer.ts"
import { DomainEvent, DomainEventId, type DomainEventType, eventItem } from "./domain/DomainEvent.ts"
import type { SubscriptionId } from "./domain/Subscription.ts"
import { type EventQuery, EventRepo } from "./EventRepo.ts"

/** What `webhook.test` tells: an event of the app that nothing caused, kept in no list. */
export const testEvent = (webhookId: string): Effect.Effect<DomainEvent> =>
  Effect.zipWith(nextId, DateTime.now, (id, createdAt) =>
    DomainEvent.make({
      id: DomainEventId.make(id),
      type: "webhook.test",
      appUserId: Option.none(),
      store: Option.none(),
      environment: Option.none(),
      subscriptionId: Option.none(),
      data: { webhook_uuid: webhookId },
      createdAt
    })
  )

/** A change to tell. `cause` names it within the app for ever: recording it again does nothing. */
export interface NewEvent {
  readonly cause: string
  readonly type: DomainEventType
  readonly appUserId: AppUserId
  readonly store: Option.Option<StoreName>
  readonly environment: Option.Option<Environment>
  readonly subscriptionId: Option.Option<SubscriptionId>
  readonly data: unknown
}

/** An event that is about to be written, and what causes it. */
export interface EventDraft {
  readonly event: DomainEvent
  readonly cause: string
}

/** Domain events: exactly one per change, with its deliveries, inside the caller's transaction (contract, part 3). */
export class Events extends Context.Tag("gatehouse/subscription/Events")<
  Events,
  {
    readonly record: (appId: AppId, events: ReadonlyArray<NewEvent>) => Effect.Effect<void>
    /** The same in two steps, for who writes the rows in a statement of its own: of what is new, `tell` everything. */
    readonly draft: (changes: ReadonlyArray<NewEvent>) => Effect.Effect<ReadonlyArray<EventDraft>>
    readonly tell: (appId: AppId, events: ReadonlyArray<DomainEvent>) => Effect.Effect<void>
    /** An event of the app itself, which concerns no customer. */
    readonly recordOfApp: (appId: AppId, event: Pick<NewEvent, "cause" | "type" | "data">) => Effect.Effect<void>
    /** Newest first; `from` is included, `to` is not. A person's events are told under each of its names. */
    readonly page: (query: EventQuery) => Effect.Effect<ReadonlyArray<DomainEvent>>
  }
>() {
  static readonly layer = Layer.effect(
    Events,
    Effect.gen(function* () {
      const events = yield* EventRepo
      const outbox = yield* Outbox

      const drafted = (changes: ReadonlyArray<Change>) =>
        Effect.map(DateTime.now, (createdAt) =>
          changes.map(({ cause, ...change }): EventDraft => {
            const id = DomainEventId.make(idAt(DateTime.toEpochMillis(createdAt)))
            return { event: DomainEvent.make({ ...change, id, createdAt }, { disableValidation: true }), cause }
          })
        )

      const tell = (appId: AppId, told: ReadonlyArray<DomainEvent>) =>
        outbox.publish(
          told.map((event) => ({
            eventId: event.id,
            owner: { kind: "app", id: appId },
            event: event.type,
            timestamp: event.createdAt,
            data: eventItem(event)
          }))
        )

      const write = Effect.fn("Events.record")(function* (appId: AppId, changes: ReadonlyArray<Change>) {
        if (changes.length === 0) return
        const drafts = yield* drafted(changes)
        const isNew = yield* events.insert(drafts.map(({ cause, event }) => ({ ...event, appId, cause })))
        yield* tell(
          appId,
          drafts.flatMap(({ event }) => (isNew.has(event.id) ? [event] : []))
        )
      })

      return Events.of({
        record: (appId, changes) => write(appId, changes.map(ofCustomer)),
        draft: (changes) => drafted(changes.map(ofCustomer)),
        tell,
        recordOfApp: (appId, event) => write(appId, [{ ...event, ...ofNobody }]),
        page: events.page
      })
    })
  ).pipe(Layer.provide(EventRepo.Default))
}

type Change = Omit<NewEvent, "appUserId"> & { readonly appUserId: Option.Option<AppUserId> }

const ofCustomer = (change: NewEvent): Change => ({ ...change, appUserId: Option.some(change.appUserId) })

const ofNobody = {
  appUserId: Option.none(),
  store: Option.none(),
  environment: Option.none(),
  subscriptionId: Option.none()
}
