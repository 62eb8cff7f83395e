import { Array, DateTime, Effect, Layer, Option } from "effect"
import type { DueDelivery, Settlement } from "../../../src/webhook/domain/Delivery.ts"
import { Endpoint } from "../../../src/webhook/domain/Endpoint.ts"
import { DeliveryId, type DeliveryState, EndpointId } from "../../../src/webhook/domain/Webhook.ts"
import { DueRepo } from "../../../src/webhook/DueRepo.ts"
import { EndpointRepo } from "../../../src/webhook/EndpointRepo.ts"
import { QueueRepo } from "../../../src/webhook/QueueRepo.ts"
import { UnderWay } from "../../../src/webhook/UnderWay.ts"

export interface Row {
  readonly id: DeliveryId
  readonly eventId: string
  state: DeliveryState
  attemptCount: number
  dueAt: Option.Option<DateTime.Utc>
}

export const endpointId = EndpointId.make("01a1fd14-94fa-7000-8000-00c4e62d5152")
export const deliveryId = (nth: number) => DeliveryId.make(`01a1fd14-94fa-7000-8000-${String(nth).padStart(12, "0")}`)

const epoch = DateTime.unsafeMake(0)

/** One endpoint and its queue in memory, without any delay: what happens under a test clock happens at once. */
export const makeMemoryQueue = (options: { readonly retryCount: number; readonly secretSealed: string }) => {
  const rows: globalThis.Array<Row> = []
  const attempts: globalThis.Array<Settlement> = []
  const endpoint = {
    current: Option.some(
      Endpoint.make({
        id: endpointId,
        ownerKind: "account",
        ownerId: endpointId,
        url: "http://target.example/",
        events: ["*"],
        retryCount: options.retryCount,
        timeoutSeconds: 10,
        maxPerSecond: Option.none(),
        isOrdered: false,
        isActive: true,
        pausedUntil: Option.none(),
        pauses: 0,
        disabledReason: Option.none(),
        failingSince: Option.none(),
        createdAt: epoch
      })
    )
  }
  let reads = 0
  let broken = 0

  const amend = (changes: Partial<typeof Endpoint.Type>) => {
    endpoint.current = Option.map(endpoint.current, (found) => Endpoint.make({ ...found, ...changes }))
  }
  const change = (changes: Partial<typeof Endpoint.Type>) => Effect.sync(() => amend(changes))
  const isOpen = (row: Row) => Option.isSome(row.dueAt) && row.state !== "delivering"

  const due = DueRepo.make({
    claim: ({ held, limit, now }) =>
      Effect.sync(() => {
        reads += 1
        const due = rows
          .filter(
            (row) => isOpen(row) && !held.includes(row.id) && Option.exists(row.dueAt, DateTime.lessThanOrEqualTo(now))
          )
          .slice(0, limit)
        due.forEach((row) => (row.state = "delivering"))
        return due.map((row) => ({ ...row, event: "message.received", body: "{}" }))
      }),
    nextDue: ({ held }) =>
      Effect.sync(() =>
        Option.map(
          Option.liftPredicate(
            rows.filter((row) => isOpen(row) && !held.includes(row.id)).flatMap(({ dueAt }) => Option.toArray(dueAt)),
            Array.isNonEmptyArray
          ),
          Array.min(DateTime.Order)
        )
      ),
    release: () =>
      Effect.sync(() =>
        rows
          .filter(({ state }) => state === "delivering")
          .forEach((row) => (row.state = row.attemptCount === 0 ? "pending" : "failed"))
      ),
    cancel: () =>
      Effect.sync(() => {
        rows
          .filter(({ dueAt }) => Option.isSome(dueAt))
          .forEach((row) => Object.assign(row, { state: "canceled", dueAt: Option.none() }))
        return true
      }),
    waiting: () => Effect.succeed([]),
    backlog: () => Effect.succeed(0)
  })
  const queue = QueueRepo.make({
    publish: () => Effect.succeed([]),
    publishTo: () => Effect.void,
    settle: (settlements, well) =>
      Effect.suspend(() => {
        if (broken > 0) return Effect.die(`broken ${broken--} times more`)
        if (well.length > 0) amend({ failingSince: Option.none() })
        attempts.push(...settlements)
        settlements.forEach(({ attemptCount, deliveryId, dueAt, state }) => {
          const row = rows.find(({ id }) => id === deliveryId)
          if (row !== undefined && row.state !== "canceled") Object.assign(row, { attemptCount, dueAt, state })
        })
        return Effect.void
      })
  })
  const endpoints = EndpointRepo.make({
    insert: () => Effect.void,
    byId: () =>
      Effect.sync(() =>
        Option.map(endpoint.current, (found) => ({
          ...found,
          secretSealed: options.secretSealed,
          previousSecretSealed: Option.none(),
          previousSecretUntil: Option.none()
        }))
      ),
    page: () => Effect.succeed([]),
    update: () => Effect.succeed(Option.none()),
    order: () => Effect.void,
    pause: (_, { pauses, until }) => change({ pauses, pausedUntil: until }),
    probe: (_, now) => change({ pausedUntil: Option.some(now) }),
    replaceSecret: () => Effect.succeed(Option.none()),
    noteFailure: ({ now }) =>
      Effect.sync(() => {
        const since = Option.flatMap(endpoint.current, ({ failingSince }) => failingSince)
        const failingSince = Option.getOrElse(since, () => now)
        amend({ failingSince: Option.some(failingSince) })
        return Option.some({ failingSince })
      }),
    disable: (_, reason) => change({ isActive: false, disabledReason: Option.some(reason) }),
    remove: () => Effect.succeed(true),
    removeOf: () => Effect.succeed([])
  })
  return {
    rows,
    attempts,
    change,
    endpoint,
    reads: () => reads,
    /** The next so many writes fail. */
    breakDown: (times: number) => (broken = times),
    add: (count: number, changes: Partial<Row> = {}) =>
      Array.makeBy(count, (): DueDelivery => {
        const id = deliveryId(rows.length + 1)
        rows.push({ id, eventId: id, state: "pending", attemptCount: 0, dueAt: Option.some(epoch), ...changes })
        return { id, eventId: id, event: "message.received", attemptCount: 0, body: "{}" }
      }),
    layer: Layer.mergeAll(
      Layer.succeed(QueueRepo, queue),
      Layer.succeed(DueRepo, due),
      Layer.succeed(EndpointRepo, endpoints),
      UnderWay.Default
    )
  }
}
