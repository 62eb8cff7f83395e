import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { DateTime, Effect, Layer, Logger, Metric } from "effect"
import { nextId } from "../../src/kit/Id.ts"
import { webhookAttempts, webhookBacklog, webhookCircuits, webhookOldest } from "../../src/Metrics.ts"
import { Backlog } from "../../src/webhook/Backlog.ts"
import { EndpointId } from "../../src/webhook/domain/Webhook.ts"
import { DueRepo } from "../../src/webhook/DueRepo.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import { until } from "../support/Until.ts"
import * as WebhookReceiver from "../support/WebhookReceiver.ts"
import { engine, history, newOwner, publish, register } from "./Engine.ts"

const from = (now: DateTime.Utc, seconds: number) => DateTime.toDateUtc(DateTime.add(now, { seconds }))

/** An endpoint with so many deliveries that have been due for so long; `paused` is the moment of its circuit from now. */
const waiting = (count: number, dueFor: number, paused: number | null = null) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const now = yield* DateTime.now
    const [id, owner, eventId] = [yield* nextId, yield* newOwner(), yield* nextId]
    const pausedUntil = paused === null ? null : from(now, paused)
    yield* sql`
      INSERT INTO webhook_endpoints (id, owner_kind, owner_id, url, events, retry_count, timeout_seconds, secret_sealed, created_at, paused_until)
      VALUES (${id}, 'account', ${owner.id}, 'http://127.0.0.1:9/', ARRAY['*'], 5, 10, '', now(), ${pausedUntil})`
    yield* sql`
      INSERT INTO webhook_events (id, owner_kind, owner_id, event, body, created_at)
      VALUES (${eventId}, 'account', ${owner.id}, 'message.received', '{}', now())`
    yield* sql`
      INSERT INTO webhook_deliveries (id, endpoint_id, owner_id, event_id, event, state, due_at, created_at)
      SELECT gen_random_uuid(), ${id}, ${owner.id}, ${eventId}, 'message.received', 'pending', ${from(now, -dueFor)}, now()
      FROM generate_series(1, ${count})`
    return EndpointId.make(id)
  })

const valueOf = (metric: Metric.Metric.Gauge<number>) => Effect.map(Metric.value(metric), ({ value }) => value)

const counted = (outcome: string) =>
  Effect.map(Metric.value(Metric.tagged(webhookAttempts, "outcome", outcome)), ({ count }) => Number(count))

layer(TestDatabase.layer, { excludeTestServices: true })("the backlog", (it) => {
  it.scoped("is measured: what is due, the oldest of it, and the circuits; who is late is told once", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const backlog = yield* Backlog
      const said: Array<readonly [string, string, unknown]> = []
      const logger = Logger.make<unknown, void>(({ annotations, logLevel, message }) => {
        said.push([logLevel.label, String(message), [...annotations].find(([key]) => key === "oldestSeconds")?.[1]])
      })
      const look = Effect.flatMap(DateTime.now, (now) => backlog.due(DateTime.add(now, { seconds: 45 }))).pipe(
        Effect.provide(Logger.replace(Logger.defaultLogger, logger))
      )
      const late = yield* waiting(3, 90)
      const soon = yield* waiting(2, -30)
      yield* waiting(4, -3_600)
      yield* waiting(5, 3_600, 600)
      const halfOpen = yield* waiting(6, 7_200, -1)

      deepStrictEqual(new Set(yield* look), new Set([late, soon, halfOpen]))
      assert.strictEqual(yield* valueOf(webhookBacklog), 14)
      assert.closeTo(yield* valueOf(webhookOldest), 90, 10)
      assert.strictEqual(yield* valueOf(Metric.tagged(webhookCircuits, "state", "open")), 1)
      assert.strictEqual(yield* valueOf(Metric.tagged(webhookCircuits, "state", "half_open")), 1)
      yield* look
      const [[level = "", message = "", seconds] = []] = said
      deepStrictEqual([said.length, level, message], [1, "WARN", "webhook deliveries are late"])
      assert.closeTo(Number(seconds), 90, 10)

      yield* sql`UPDATE webhook_deliveries SET due_at = now() WHERE endpoint_id = ${late}`
      yield* sql`UPDATE webhook_endpoints SET paused_until = NULL WHERE id = ${halfOpen}`
      yield* sql`DELETE FROM webhook_deliveries WHERE endpoint_id = ${halfOpen}`
      deepStrictEqual(new Set(yield* look), new Set([late, soon]))
      assert.strictEqual(yield* valueOf(webhookBacklog), 8)
      assert.isBelow(yield* valueOf(webhookOldest), 10)
      assert.strictEqual(yield* valueOf(Metric.tagged(webhookCircuits, "state", "half_open")), 0)
      deepStrictEqual(
        said.map(([label, text]) => `${label} ${text}`),
        ["WARN webhook deliveries are late", "INFO webhook deliveries are in time again"]
      )
      yield* sql`DELETE FROM webhook_deliveries`
    }).pipe(Effect.provide(Backlog.layer.pipe(Layer.provide(DueRepo.Default))))
  )

  it.scoped("is worked off in attempts that are counted by outcome", () =>
    Effect.gen(function* () {
      const outcomes = ["succeeded", "failed", "exhausted"]
      const before = yield* Effect.forEach(outcomes, counted)
      const receiver = yield* WebhookReceiver.make()
      receiver.script({ status: 200 }, { status: 200 }, { status: 500 })
      const [patient, impatient] = [yield* newOwner(), yield* newOwner()]
      yield* register(patient, receiver.url)
      for (let nth = 0; nth < 3; nth++) {
        yield* publish(patient)
        yield* receiver.take
      }
      receiver.script({ status: 400 })
      yield* register(impatient, receiver.url, { retryCount: 0 })
      yield* publish(impatient)
      const states = Effect.map(Effect.all([history(patient), history(impatient)]), (all) =>
        all.flat().map(({ state }) => state)
      )
      yield* until(states, (found) => found.every((state) => outcomes.includes(state)))
      const after = yield* Effect.forEach(outcomes, counted)
      deepStrictEqual(
        after.map((count, nth) => count - (before[nth] ?? 0)),
        [2, 1, 1]
      )
    }).pipe(Effect.provide(engine()))
  )
})
