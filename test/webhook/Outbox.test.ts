import type { ServerResponse } from "node:http"
import { layer } from "@effect/vitest"
import { deepStrictEqual, strictEqual } from "@effect/vitest/utils"
import { SqlClient } from "@effect/sql"
import { Array, Data, DateTime, Effect } from "effect"
import { nextId } from "../../src/kit/Id.ts"
import type { Owner } from "../../src/webhook/domain/Webhook.ts"
import { Outbox } from "../../src/webhook/Outbox.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import { until } from "../support/Until.ts"
import * as WebhookReceiver from "../support/WebhookReceiver.ts"
import { count, engine, newOwner, publish, register } from "./Engine.ts"

class Undone extends Data.TaggedError("Undone")<{}> {}

/** Publishes one event in whatever transaction is open; the answer is its id. */
const publishHere = (owner: Owner) =>
  Effect.gen(function* () {
    const outbox = yield* Outbox
    const eventId = yield* nextId
    yield* outbox.publish([{ eventId, owner, event: "message.received", timestamp: yield* DateTime.now, data: {} }])
    return eventId
  })

const eventIds = (receiver: WebhookReceiver.WebhookReceiver) =>
  receiver.ledger.map(({ headers }) => String(headers["x-webhook-event-id"]))

/** A receiver whose delivery loop is awake and has caught up. */
const awake = Effect.gen(function* () {
  const receiver = yield* WebhookReceiver.make()
  const owner = yield* newOwner()
  yield* register(owner, receiver.url)
  const first = yield* publish(owner)
  yield* receiver.take
  yield* Effect.sleep("50 millis")
  return { receiver, owner, first }
})

layer(TestDatabase.layer, { excludeTestServices: true })("the outbox", (it) => {
  it.scoped("sends what was committed and nothing that was undone, whoever opened the transaction", () =>
    Effect.gen(function* () {
      const { first, owner, receiver } = yield* awake
      const outbox = yield* Outbox
      const sql = yield* SqlClient.SqlClient
      const undone = Effect.zipRight(publishHere(owner), new Undone())

      yield* Effect.flip(outbox.transaction(undone))
      yield* Effect.flip(sql.withTransaction(undone))
      const kept = yield* outbox.transaction(
        Effect.gen(function* () {
          const outside = yield* publishHere(owner)
          yield* Effect.flip(outbox.transaction(undone))
          yield* Effect.flip(sql.withTransaction(undone))
          yield* Effect.flip(sql.withTransaction(outbox.transaction(undone)))
          const inside = yield* outbox.transaction(publishHere(owner))
          const below = yield* sql.withTransaction(publishHere(owner))
          return [outside, inside, below]
        })
      )
      const foreign = yield* sql.withTransaction(
        Effect.zipLeft(outbox.transaction(publishHere(owner)), Effect.sleep("100 millis"))
      )
      yield* Effect.flip(sql.withTransaction(Effect.zipRight(outbox.transaction(publishHere(owner)), new Undone())))
      const alone = yield* publishHere(owner)

      const expected = [first, ...kept, foreign, alone].sort()
      yield* until(
        Effect.sync(() => receiver.ledger.length),
        (length) => length >= expected.length
      )
      yield* Effect.sleep("200 millis")
      deepStrictEqual(eventIds(receiver).sort(), expected)
      strictEqual(yield* count("webhook_events", owner), expected.length)
    }).pipe(Effect.provide(engine()))
  )

  it.scoped("sends each event once when many callers publish, fail and are interrupted at once", () =>
    Effect.gen(function* () {
      const { first, owner, receiver } = yield* awake
      const outbox = yield* Outbox
      const kept: Array<string> = []
      const one = (nth: number) => {
        const published = Effect.replicateEffect(publishHere(owner), 1 + (nth % 7))
        if (nth % 5 === 0) return Effect.ignore(outbox.transaction(Effect.zipRight(published, new Undone())))
        if (nth % 11 === 0) {
          return Effect.asVoid(
            Effect.timeoutOption(outbox.transaction(Effect.zipRight(published, Effect.never)), "20 millis")
          )
        }
        return Effect.map(outbox.transaction(published), (ids) => void kept.push(...ids))
      }
      yield* Effect.forEach(Array.range(1, 400), one, { concurrency: 8, discard: true })

      const expected = [first, ...kept].sort()
      yield* until(
        Effect.sync(() => receiver.ledger.length),
        (length) => length >= expected.length
      )
      yield* Effect.sleep("200 millis")
      deepStrictEqual(eventIds(receiver).sort(), expected)
    }).pipe(Effect.provide(engine()))
  )

  it.scoped("reads nothing from memory before what was published earlier", () =>
    Effect.gen(function* () {
      const held: globalThis.Array<ServerResponse> = []
      const receiver = yield* WebhookReceiver.make((response) => void held.push(response))
      const arrived = (count: number) =>
        until(
          Effect.sync(() => receiver.ledger.length),
          (length) => length >= count
        )
      for (let round = 0; round < 10; round++) {
        const owner = yield* newOwner()
        yield* register(owner, receiver.url, { timeoutSeconds: 30 })
        const published = yield* Effect.replicateEffect(publishHere(owner), 32)
        yield* publishHere(owner)
        yield* arrived(33 * round + 32)
        deepStrictEqual(eventIds(receiver).slice(-32).sort(), published.toSorted())
        held.splice(0).forEach((response) => response.end())
        yield* arrived(33 * round + 33)
        held.splice(0).forEach((response) => response.end())
      }
    }).pipe(Effect.provide(engine()))
  )

  it.scoped("sends in the order of publishing, but for the 32 that are sent at once", () =>
    Effect.gen(function* () {
      const held: globalThis.Array<ServerResponse> = []
      const receiver = yield* WebhookReceiver.make((response) => void held.push(response))
      const owner = yield* newOwner()
      yield* register(owner, receiver.url, { timeoutSeconds: 30 })
      const published = yield* Effect.replicateEffect(publishHere(owner), 60)
      const arrived = (count: number) =>
        until(
          Effect.sync(() => receiver.ledger.length),
          (length) => length >= count
        )
      yield* arrived(32)
      deepStrictEqual(new Set(eventIds(receiver)), new Set(published.slice(0, 32)))
      for (const [nth, id] of published.slice(32).entries()) {
        held[nth]?.end()
        yield* arrived(33 + nth)
        strictEqual(eventIds(receiver).at(-1), id)
      }
      held.forEach((response) => response.end())
    }).pipe(Effect.provide(engine()))
  )
})
