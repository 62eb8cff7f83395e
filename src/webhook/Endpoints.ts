import { randomBytes } from "node:crypto"
import { SqlClient } from "@effect/sql"
import { Context, Data, DateTime, type Duration, Effect, Layer, Option, type Redacted } from "effect"
import { nextId } from "../kit/Id.ts"
import { Seal } from "../kit/Seal.ts"
import { Endpoint } from "./domain/Endpoint.ts"
import { secretOf } from "./domain/Signature.ts"
import { DeliveryId, EndpointId, type Owner } from "./domain/Webhook.ts"
import { DueRepo } from "./DueRepo.ts"
import { EndpointRepo } from "./EndpointRepo.ts"
import { bodyOf, Outbox } from "./Outbox.ts"
import { QueueRepo } from "./QueueRepo.ts"
import { ReplayRepo } from "./ReplayRepo.ts"
import { checkTarget, type TargetPolicy, type TargetRefused } from "./TargetGuard.ts"

export class EndpointNotFound extends Data.TaggedError("EndpointNotFound")<{}> {}
/** The endpoint, or that of a delivery, was removed or is not active. */
export class EndpointInactive extends Data.TaggedError("EndpointInactive")<{}> {}

const newSecret = Effect.sync(() => secretOf(randomBytes(32)))

export interface NewEndpoint {
  readonly owner: Owner
  readonly url: string
  readonly events: ReadonlyArray<string>
  readonly retryCount: number
  readonly timeoutSeconds: number
  readonly maxPerSecond: Option.Option<number>
  readonly isOrdered: boolean
}

/** What is absent stays. */
export interface EndpointChanges {
  readonly url?: string | undefined
  readonly events?: ReadonlyArray<string> | undefined
  readonly retryCount?: number | undefined
  readonly timeoutSeconds?: number | undefined
  /** Null lifts the measure. */
  readonly maxPerSecond?: number | null | undefined
  readonly isOrdered?: boolean | undefined
  /** `false` cancels what is due; `true` also forgets why the system had stopped it. */
  readonly isActive?: boolean | undefined
}

/** Registered webhook targets of both APIs (contract, parts 3 and 4): secrets are sealed and shown once. */
export class Endpoints extends Context.Tag("gatehouse/webhook/Endpoints")<
  Endpoints,
  {
    readonly create: (
      input: NewEndpoint
    ) => Effect.Effect<{ readonly endpoint: Endpoint; readonly secret: Redacted.Redacted<string> }, TargetRefused>
    readonly byId: (id: EndpointId) => Effect.Effect<Endpoint, EndpointNotFound>
    /** Newest first, older than `before`. */
    readonly page: (
      ownerId: string,
      page: { readonly before: Option.Option<string>; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<Endpoint>>
    /** Holds for the next attempt of what is already under way. */
    readonly update: (
      id: EndpointId,
      changes: EndpointChanges
    ) => Effect.Effect<Endpoint, EndpointNotFound | TargetRefused>
    /** A new secret, from the next attempt on; the one before signs along for `overlap`. */
    readonly rotateSecret: (
      id: EndpointId,
      overlap: Duration.Duration
    ) => Effect.Effect<{ readonly endpoint: Endpoint; readonly secret: Redacted.Redacted<string> }, EndpointNotFound>
    /** Sends `webhook.test` with `data` to this endpoint alone, whatever it subscribes to. */
    readonly test: (endpoint: Endpoint, data: unknown) => Effect.Effect<DeliveryId, EndpointInactive>
    /**
     * Sends what happened in `[from, to)` to this endpoint once more, oldest first: of what it subscribes to, or of
     * `events` among it. At most ten thousand at a time; `next` is where to go on.
     */
    readonly replay: (
      endpoint: Endpoint,
      range: {
        readonly from: DateTime.Utc
        readonly to: DateTime.Utc
        readonly events: Option.Option<ReadonlyArray<string>>
      }
    ) => Effect.Effect<{ readonly count: number; readonly next: Option.Option<DateTime.Utc> }, EndpointInactive>
    /** Cancels what is due; the history of deliveries stays. */
    readonly remove: (id: EndpointId) => Effect.Effect<void, EndpointNotFound>
    /** All of an owner that goes: cancels what is due. Joins the caller's transaction. */
    readonly removeOf: (ownerId: string) => Effect.Effect<void>
  }
>() {
  static readonly layer = (policy: TargetPolicy) =>
    Layer.effect(
      Endpoints,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const repo = yield* EndpointRepo
        const queue = yield* QueueRepo
        const due = yield* DueRepo
        const replays = yield* ReplayRepo
        const outbox = yield* Outbox
        const seal = yield* Seal

        const create = Effect.fn("Endpoints.create")(function* (input: NewEndpoint) {
          yield* checkTarget(input.url, policy)
          const secret = yield* newSecret
          const endpoint = Endpoint.make({
            id: EndpointId.make(yield* nextId),
            ownerKind: input.owner.kind,
            ownerId: input.owner.id,
            url: input.url,
            events: input.events,
            retryCount: input.retryCount,
            timeoutSeconds: input.timeoutSeconds,
            maxPerSecond: input.maxPerSecond,
            isOrdered: input.isOrdered,
            isActive: true,
            pausedUntil: Option.none(),
            pauses: 0,
            disabledReason: Option.none(),
            failingSince: Option.none(),
            createdAt: yield* DateTime.now
          })
          yield* repo.insert({ ...endpoint, secretSealed: yield* seal.seal(secret, endpoint.id) })
          return { endpoint, secret }
        })

        const byId = Effect.fn("Endpoints.byId")(function* (id: EndpointId) {
          const found = yield* repo.byId(id)
          return yield* Option.match(found, {
            onNone: () => new EndpointNotFound(),
            onSome: (row) => Effect.succeed(Endpoint.make(row))
          })
        })

        const update = Effect.fn("Endpoints.update")(function* (id: EndpointId, changes: EndpointChanges) {
          const { events = null, isActive = null, isOrdered = null, retryCount = null, timeoutSeconds = null } = changes
          const { url = null } = changes
          const maxPerSecond = changes.maxPerSecond === undefined ? Option.none() : Option.some(changes.maxPerSecond)
          if (url !== null) yield* checkTarget(url, policy)
          const updated = yield* Effect.gen(function* () {
            const changed = { id, url, events, retryCount, timeoutSeconds, isActive, isOrdered, maxPerSecond }
            const endpoint = yield* repo.update(changed)
            if (isOrdered !== null) yield* repo.order(id, isOrdered)
            if (isActive === false) yield* due.cancel(id)
            return endpoint
          }).pipe(sql.withTransaction, Effect.catchTag("SqlError", Effect.die))
          if (Option.isNone(updated)) return yield* new EndpointNotFound()
          yield* outbox.wake([id])
          return updated.value
        })

        const rotateSecret = Effect.fn("Endpoints.rotateSecret")(function* (
          id: EndpointId,
          overlap: Duration.Duration
        ) {
          const secret = yield* newSecret
          const secretSealed = yield* seal.seal(secret, id)
          const until = DateTime.addDuration(yield* DateTime.now, overlap)
          const endpoint = yield* repo.replaceSecret({ id, secretSealed, until })
          if (Option.isNone(endpoint)) return yield* new EndpointNotFound()
          yield* outbox.wake([id])
          return { endpoint: endpoint.value, secret }
        })

        const test = Effect.fn("Endpoints.test")(function* ({ id, isActive, owner }: Endpoint, data: unknown) {
          if (!isActive) return yield* new EndpointInactive()
          const deliveryId = DeliveryId.make(yield* nextId)
          const [eventId, createdAt] = [yield* nextId, yield* DateTime.now]
          const event = "webhook.test"
          const body = bodyOf({ eventId, owner, event, timestamp: createdAt, data })
          const kept = { id: eventId, ownerKind: owner.kind, ownerId: owner.id, event, body, createdAt }
          yield* queue.publishTo(deliveryId, id, kept)
          yield* repo.probe(id, createdAt)
          yield* outbox.wake([id])
          return deliveryId
        })

        const replay = Effect.fn("Endpoints.replay")(function* (
          { id, isActive }: Endpoint,
          range: {
            readonly from: DateTime.Utc
            readonly to: DateTime.Utc
            readonly events: Option.Option<ReadonlyArray<string>>
          }
        ) {
          if (!isActive) return yield* new EndpointInactive()
          const now = yield* DateTime.now
          const made = yield* replays.replay({ endpointId: id, now, ...range, events: Option.getOrNull(range.events) })
          yield* repo.probe(id, now)
          yield* outbox.wake([id])
          return made
        })

        const remove = Effect.fn("Endpoints.remove")(function* (id: EndpointId) {
          const isRemoved = yield* sql
            .withTransaction(Effect.zipLeft(repo.remove(id), due.cancel(id)))
            .pipe(Effect.catchTag("SqlError", Effect.die))
          if (!isRemoved) return yield* new EndpointNotFound()
          yield* outbox.wake([id])
        })

        const removeOf = Effect.fn("Endpoints.removeOf")(
          function* (ownerId: string) {
            const removed = (yield* repo.removeOf(ownerId)).map(({ id }) => id)
            yield* Effect.forEach(removed, due.cancel, { discard: true })
            yield* outbox.wake(removed)
          },
          outbox.transaction,
          Effect.catchTag("SqlError", Effect.die)
        )

        return Endpoints.of({
          create,
          byId,
          page: (ownerId, { before, limit }) => repo.page({ ownerId, before: Option.getOrNull(before), limit }),
          update,
          rotateSecret,
          test,
          replay,
          remove,
          removeOf
        })
      })
    )
}
