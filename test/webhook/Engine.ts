import { SqlClient } from "@effect/sql"
import { DateTime, Effect, Layer, Option, Redacted } from "effect"
import { nextId } from "../../src/kit/Id.ts"
import { Seal } from "../../src/kit/Seal.ts"
import { Deliveries } from "../../src/webhook/Deliveries.ts"
import { EndpointId, type Owner } from "../../src/webhook/domain/Webhook.ts"
import { Endpoints } from "../../src/webhook/Endpoints.ts"
import { EndpointWaker } from "../../src/webhook/EndpointWaker.ts"
import { Outbox } from "../../src/webhook/Outbox.ts"
import type { TargetPolicy } from "../../src/webhook/TargetGuard.ts"
import * as Webhooks from "../../src/webhook/Webhooks.ts"
import * as TestSharding from "../support/TestSharding.ts"

export const seal = Seal.layer([Redacted.make(Buffer.alloc(32, 7))])

/** The whole context on a given database, with a cluster of its own: built twice, it is a restart. */
export const engine = (policy: TargetPolicy = { allowPrivate: true }) =>
  Layer.fresh(Webhooks.layer(policy).pipe(Layer.provide(Layer.fresh(TestSharding.layer)), Layer.provide(seal)))

/** Keeps who was woken instead of waking. */
export const recordedWakes = (woken: Array<EndpointId>) =>
  Layer.succeed(EndpointWaker, {
    wake: (ids) => Effect.sync(() => void woken.push(...ids)),
    reserve: () => Effect.succeed(false),
    handOver: () => Effect.void,
    withdraw: () => Effect.void
  })

export const newOwner = (kind: Owner["kind"] = "account"): Effect.Effect<Owner> =>
  Effect.map(nextId, (id) => ({ kind, id }))

export const register = Effect.fn("register")(function* (
  owner: Owner,
  url: string,
  options: {
    readonly events?: ReadonlyArray<string>
    readonly retryCount?: number
    readonly timeoutSeconds?: number
    readonly maxPerSecond?: number
    readonly isOrdered?: boolean
  } = {}
) {
  const endpoints = yield* Endpoints
  const { events = ["*"], isOrdered = false, retryCount = 5, timeoutSeconds = 10 } = options
  const maxPerSecond = Option.fromNullable(options.maxPerSecond)
  return yield* endpoints.create({ owner, url, events, retryCount, timeoutSeconds, maxPerSecond, isOrdered })
})

/** Publishes one event in a transaction of its own; the answer is its id. */
export const publish = Effect.fn("publish")(function* (
  owner: Owner,
  event = "message.received",
  data: unknown = {},
  id?: string
) {
  const outbox = yield* Outbox
  const eventId = id ?? (yield* nextId)
  const timestamp = yield* DateTime.now
  yield* outbox.transaction(outbox.publish([{ eventId, owner, event, timestamp, data }]))
  return eventId
})

export const history = (owner: Owner) =>
  Effect.flatMap(Deliveries, (deliveries) =>
    deliveries.page({
      ownerKind: owner.kind,
      ownerId: Option.some(owner.id),
      endpointId: Option.none(),
      event: Option.none(),
      state: Option.none(),
      before: Option.none(),
      limit: 100
    })
  )

export const count = (table: "webhook_events" | "webhook_deliveries" | "webhook_attempts", owner: Owner) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql<{ readonly n: number }>`
      SELECT count(*) AS n FROM ${sql(table)} WHERE owner_id = ${owner.id}`
    return rows[0]?.n
  })
