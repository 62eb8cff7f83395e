import { SqlClient } from "@effect/sql"
import { Effect, Logger, LogLevel, Option } from "effect"
import { nextId } from "../../src/kit/Id.ts"
import type { Owner } from "../../src/webhook/domain/Webhook.ts"
import { EndpointId } from "../../src/webhook/domain/Webhook.ts"
import { Endpoints } from "../../src/webhook/Endpoints.ts"
import { Outbox } from "../../src/webhook/Outbox.ts"
import { dataOf, newEvents, program } from "./WebhookBench.ts"

const backlog = Number(process.env["MEMORY_BACKLOG"] ?? 1_000_000)
const idle = 10_000

const megabytes = Effect.sync(() => {
  global.gc?.()
  return process.memoryUsage.rss() / 1024 / 1024
})

/** The most that is resident while something goes on. */
const peak = (length: number) =>
  Effect.gen(function* () {
    let most = 0
    for (let second = 0; second < length; second++) {
      yield* Effect.sleep("1 second")
      most = Math.max(most, process.memoryUsage.rss() / 1024 / 1024)
    }
    return most
  })

const owner: Effect.Effect<Owner> = Effect.map(nextId, (id) => ({ kind: "account", id }))

const bench = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const endpoints = yield* Endpoints
  const outbox = yield* Outbox
  const wanted = { events: ["*"], retryCount: 5, timeoutSeconds: 10, maxPerSecond: Option.none(), isOrdered: false }

  const before = yield* megabytes
  const template = yield* endpoints.create({ ...wanted, owner: yield* owner, url: "http://127.0.0.1:9/" })
  yield* sql`
    INSERT INTO webhook_endpoints (id, owner_kind, owner_id, url, events, retry_count, timeout_seconds, secret_sealed, created_at)
    SELECT gen_random_uuid(), owner_kind, gen_random_uuid(), url, events, retry_count, timeout_seconds, secret_sealed, created_at
    FROM webhook_endpoints, generate_series(1, ${idle}) WHERE id = ${template.endpoint.id}`
  const commits = sql<{ readonly n: number }>`
    SELECT pg_stat_clear_snapshot(), xact_commit AS n FROM pg_stat_database WHERE datname = current_database()`
  const first = (yield* commits)[0]?.n ?? 0
  const withIdle = yield* peak(35)
  const transactions = ((yield* commits)[0]?.n ?? 0) - first
  console.log(
    `${idle} idle endpoints: ${(withIdle - before).toFixed(1)} MB more (under 20 asked), ${transactions} transactions in 35 s`
  )

  const dead = yield* owner
  const { endpoint } = yield* endpoints.create({ ...wanted, owner: dead, url: "http://127.0.0.1:9/" })
  const [model] = yield* newEvents(dead, [1])
  const body = JSON.stringify({ event: model?.event, data: dataOf(1) })
  yield* sql`
    WITH made AS (
      INSERT INTO webhook_events (id, owner_kind, owner_id, event, body, created_at)
      SELECT gen_random_uuid(), 'account', ${dead.id}::uuid, 'message.received', ${body}, now() FROM generate_series(1, ${backlog})
      RETURNING id, owner_id, event, created_at
    )
    INSERT INTO webhook_deliveries (id, endpoint_id, owner_id, event_id, event, state, due_at, created_at)
    SELECT gen_random_uuid(), ${endpoint.id}::uuid, owner_id, id, event, 'pending', now(), created_at FROM made`
  const calm = yield* megabytes
  yield* outbox.wake([EndpointId.make(endpoint.id)])
  const beset = yield* peak(40)
  console.log(`${backlog} due to a dead target: ${(beset - calm).toFixed(1)} MB more at most (under 50 asked)`)
}).pipe(Effect.scoped, Effect.provide(program), Logger.withMinimumLogLevel(LogLevel.Error), Effect.orDie)

await Effect.runPromise(bench)
process.exit(0)
