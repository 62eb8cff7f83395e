import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { SqlClient } from "@effect/sql"
import { Array, DateTime, Deferred, Effect, Option } from "effect"
import { firstIdAt, nextId } from "../../src/kit/Id.ts"
import { Deliveries } from "../../src/webhook/Deliveries.ts"
import type { Owner } from "../../src/webhook/domain/Webhook.ts"
import { Endpoints } from "../../src/webhook/Endpoints.ts"
import { Outbox } from "../../src/webhook/Outbox.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import { until } from "../support/Until.ts"
import * as WebhookReceiver from "../support/WebhookReceiver.ts"
import { engine, history, newOwner, publish, register } from "./Engine.ts"

const bodyOf = ({ rawBody }: WebhookReceiver.ReceivedRequest) => JSON.parse(rawBody)
const told = (receiver: WebhookReceiver.WebhookReceiver) =>
  receiver.ledger.map((request) => `${bodyOf(request).data.chat_id}${bodyOf(request).data.nth}`)

const say = (owner: Owner, chat: string, nth: number, event = "message.received") =>
  publish(owner, event, { chat_id: chat, nth })

/** Whatever waits for a moment is due now. */
const hurry = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const outbox = yield* Outbox
  const rows = yield* sql<{ readonly endpointId: string }>`
    UPDATE webhook_deliveries SET due_at = now() WHERE due_at IS NOT NULL RETURNING endpoint_id`
  yield* outbox.wake(rows.map(({ endpointId }) => endpointId as never))
})

layer(TestDatabase.layer, { excludeTestServices: true })("an endpoint", (it) => {
  it.scoped("with an order gets one chat's events one after the other, whatever becomes of them", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make()
      receiver.script({ status: 500 })
      const owner = yield* newOwner()
      yield* register(owner, receiver.url, { isOrdered: true, retryCount: 1 })
      for (let nth = 0; nth < 4; nth++) yield* say(owner, "a", nth)
      yield* say(owner, "b", 0)
      yield* until(history(owner), (all) => all.filter(({ attempts }) => attempts.length > 0).length === 2)
      deepStrictEqual(told(receiver).toSorted(), ["a0", "b0"])
      yield* hurry
      yield* until(history(owner), (all) => all.every(({ state }) => state === "succeeded"))
      deepStrictEqual(
        told(receiver).filter((name) => name.startsWith("a")),
        ["a0", "a0", "a1", "a2", "a3"]
      )
    }).pipe(Effect.provide(engine()))
  )

  it.scoped("with an order goes on when an event has no retry left", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make()
      receiver.script({ status: 500 }, { status: 200 })
      const owner = yield* newOwner()
      yield* register(owner, receiver.url, { isOrdered: true, retryCount: 0 })
      yield* say(owner, "a", 0)
      yield* say(owner, "a", 1)
      const rows = yield* until(
        history(owner),
        (all) => all.length === 2 && all.every(({ dueAt }) => Option.isNone(dueAt))
      )
      deepStrictEqual(
        rows.map(({ state }) => state),
        ["succeeded", "exhausted"]
      )
    }).pipe(Effect.provide(engine()))
  )

  it.scoped("that gets an order later keeps it for what waits", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make({ status: 500 })
      const owner = yield* newOwner()
      const endpoints = yield* Endpoints
      const { endpoint } = yield* register(owner, receiver.url)
      for (let nth = 0; nth < 3; nth++) yield* say(owner, "a", nth)
      yield* until(history(owner), (all) => all.every(({ state }) => state === "failed"))
      yield* endpoints.update(endpoint.id, { isOrdered: true })
      yield* receiver.takeN(3)
      receiver.script({ status: 200 }, { status: 200 }, { status: 200 })
      yield* hurry
      yield* receiver.takeN(3)
      deepStrictEqual(told(receiver).slice(3), ["a0", "a1", "a2"])
      yield* endpoints.update(endpoint.id, { isOrdered: false })
    }).pipe(Effect.provide(engine()))
  )

  it.scoped("with a measure gets no more in any second", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make()
      const owner = yield* newOwner()
      yield* register(owner, receiver.url, { maxPerSecond: 10 })
      const outbox = yield* Outbox
      const timestamp = yield* DateTime.now
      const ids = yield* Effect.all(Array.makeBy(25, () => nextId))
      yield* outbox.publish(ids.map((eventId) => ({ eventId, owner, event: "message.received", timestamp, data: {} })))
      yield* receiver.takeN(25)
      const rows = yield* until(history(owner), (all) => all.every(({ state }) => state === "succeeded"))
      const begun = rows.flatMap(({ attempts }) => attempts.map(({ startedAt }) => startedAt.epochMillis)).toSorted()
      const counts = begun.map((at) => begun.filter((other) => other >= at && other < at + 1000).length)
      assert.strictEqual(Math.max(...counts), 10)
      const [first = 0, last = 0] = [begun[0], begun.at(-1)]
      assert.isAtLeast(last - first, 2_000)
      assert.isBelow(last - first, 15_000)
    }).pipe(Effect.provide(engine()))
  )

  it.scoped("that is down is spared, charged nothing meanwhile, and tried by one delivery", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make({ status: 500 })
      const owner = yield* newOwner()
      const endpoints = yield* Endpoints
      const { endpoint } = yield* register(owner, receiver.url)
      const outbox = yield* Outbox
      const timestamp = yield* DateTime.now
      const ids = yield* Effect.all(Array.makeBy(90, () => nextId))
      yield* outbox.publish(ids.map((eventId) => ({ eventId, owner, event: "message.received", timestamp, data: {} })))
      const open = yield* until(endpoints.byId(endpoint.id), ({ pausedUntil }) => Option.isSome(pausedUntil))
      assert.strictEqual(open.pauses, 1)
      const untriedOf = (all: ReadonlyArray<{ readonly attemptCount: number }>) =>
        all.filter(({ attemptCount }) => attemptCount === 0).length
      const rows = yield* until(
        history(owner),
        (all) =>
          all.every(({ state }) => state === "pending" || state === "failed") &&
          receiver.ledger.length === 90 - untriedOf(all)
      )
      const untried = untriedOf(rows)
      assert.isAbove(untried, 0)

      const [waiting] = rows.filter(({ attemptCount }) => attemptCount === 0)
      const deliveries = yield* Deliveries
      yield* deliveries.retry(waiting ?? assert.fail())
      yield* until(endpoints.byId(endpoint.id), ({ pauses }) => pauses === 2)
      assert.strictEqual(receiver.ledger.length, 90 - untried + 1)

      receiver.script(...Array.makeBy(200, () => ({ status: 200 })))
      yield* deliveries.retry(waiting ?? assert.fail())
      const closed = yield* until(endpoints.byId(endpoint.id), ({ pausedUntil }) => Option.isNone(pausedUntil))
      assert.strictEqual(closed.pauses, 0)
      yield* hurry
      yield* until(history(owner), (all) => all.every(({ state }) => state === "succeeded"))
    }).pipe(Effect.provide(engine()))
  )

  it.scoped("gets a range again: what it subscribes to, oldest first, and nothing twice that still waits", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make()
      const owner = yield* newOwner()
      const from = yield* DateTime.now
      for (let nth = 0; nth < 3; nth++) yield* say(owner, "a", nth)
      yield* publish(owner, "chat.created", {})
      const to = DateTime.add(yield* DateTime.now, { millis: 1 })
      const endpoints = yield* Endpoints
      const { endpoint } = yield* register(owner, receiver.url, { events: ["message.*"] })
      deepStrictEqual(yield* endpoints.replay(endpoint, { from, to, events: Option.none() }), {
        count: 3,
        next: Option.none()
      })
      const requests = yield* receiver.takeN(3)
      deepStrictEqual(requests.map((request) => bodyOf(request).data.nth).toSorted(), [0, 1, 2])
      const rows = yield* until(history(owner), (all) => all.every(({ state }) => state === "succeeded"))
      deepStrictEqual(
        rows.map(({ payload }) => (payload as any).data.nth),
        [2, 1, 0]
      )
      const none = yield* endpoints.replay(endpoint, { from, to, events: Option.some(["message.sent"]) })
      assert.strictEqual(none.count, 0)
      yield* endpoints.update(endpoint.id, { isActive: false })
      const refused = yield* Effect.flip(
        endpoints.replay(yield* endpoints.byId(endpoint.id), { from, to, events: Option.none() })
      )
      assert.strictEqual(refused._tag, "EndpointInactive")
    }).pipe(Effect.provide(engine()))
  )

  it.scoped("gets a long range in pieces, each from where the one before ended", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const endpoints = yield* Endpoints
      const owner = yield* newOwner()
      const { endpoint } = yield* register(owner, "http://127.0.0.1:9/", { maxPerSecond: 1 })
      const from = DateTime.unsafeMake("2026-01-01T00:00:00.000Z")
      const [noon, night] = [DateTime.add(from, { hours: 12 }), DateTime.add(from, { hours: 23 })]
      const happened = (at: DateTime.Utc, count: number) => sql`
        INSERT INTO webhook_events (id, owner_kind, owner_id, event, body, created_at)
        SELECT (${firstIdAt(at).slice(0, 23)}::text || '-' || lpad(to_hex(n), 12, '0'))::uuid, 'account', ${owner.id}, 'message.received', '{}',
          ${DateTime.toDateUtc(at)} FROM generate_series(1, ${count}) AS n`
      yield* happened(from, 9_000)
      yield* happened(noon, 1_500)
      yield* happened(night, 1)
      const to = DateTime.add(from, { days: 1 })
      const replay = (begin: DateTime.Utc) => endpoints.replay(endpoint, { from: begin, to, events: Option.none() })
      deepStrictEqual(yield* replay(from), { count: 9_000, next: Option.some(noon) })
      deepStrictEqual(yield* replay(noon), { count: 1_501, next: Option.none() })

      const next = DateTime.add(to, { days: 1 })
      yield* happened(to, 10_002)
      yield* happened(next, 1)
      const later = (begin: DateTime.Utc) =>
        endpoints.replay(endpoint, { from: begin, to: DateTime.add(next, { hours: 1 }), events: Option.none() })
      const behind = DateTime.add(to, { millis: 1 })
      deepStrictEqual(yield* later(to), { count: 10_002, next: Option.some(behind) })
      deepStrictEqual(yield* later(behind), { count: 1, next: Option.none() })
      yield* endpoints.remove(endpoint.id)
    }).pipe(Effect.provide(engine()))
  )

  it.scoped("shows what is being sent as such, and what waits behind it as waiting", () =>
    Effect.gen(function* () {
      const hold = yield* Deferred.make<() => void>()
      const receiver = yield* WebhookReceiver.make((response) =>
        Deferred.unsafeDone(
          hold,
          Effect.succeed(() => void response.writeHead(500).end())
        )
      )
      const owner = yield* newOwner()
      const deliveries = yield* Deliveries
      yield* register(owner, receiver.url)
      yield* publish(owner)
      yield* receiver.take
      const [delivery] = yield* history(owner)
      assert.strictEqual(delivery?.state, "delivering")
      const busy = yield* Effect.flip(deliveries.retry(delivery ?? assert.fail()))
      assert.strictEqual(busy._tag, "DeliveryBusy")
      const answer = yield* Deferred.await(hold)
      answer()
      const [failed] = yield* until(history(owner), ([first]) => first?.state === "failed")
      assert.strictEqual(failed?.attemptCount, 1)
    }).pipe(Effect.provide(engine()))
  )

  it.scoped("that goes with its owner leaves nothing waiting", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make({ status: 500 })
      const owner = yield* newOwner()
      const endpoints = yield* Endpoints
      yield* register(owner, receiver.url)
      for (let nth = 0; nth < 3; nth++) yield* publish(owner)
      yield* until(history(owner), (all) => all.every(({ state }) => state === "failed"))
      yield* endpoints.removeOf(owner.id)
      const rows = yield* history(owner)
      deepStrictEqual(
        rows.map(({ attempts, state }) => `${state} after ${attempts.length}`),
        Array.replicate("canceled after 1", 3)
      )
    }).pipe(Effect.provide(engine()))
  )
})
