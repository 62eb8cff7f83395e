import { createServer } from "node:net"
import { SqlClient } from "@effect/sql"
import { assert, it, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Array, Duration, Effect, Fiber, FiberId, Layer, Random } from "effect"
import { Pool, type PoolConfig } from "pg"
import { inject } from "vitest"
import { useCancelRequests } from "../../src/sql/CancelRequests.ts"
import { usePipeline, whenBegun } from "../../src/sql/PipelinedClient.ts"
import { DatabaseAddress, DatabasePool } from "../../src/sql/Database.ts"
import * as Database from "../../src/sql/Database.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

const connections = 2

const fewConnections = Layer.effect(
  DatabaseAddress,
  Effect.map(DatabaseAddress, (address) => ({ ...address, maxConnections: connections }))
)
const database = Database.layer.pipe(Layer.provide(fewConnections), Layer.provide(TestDatabase.address), Layer.orDie)

const nap = (seconds: number) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT pg_sleep(${seconds})`)

/** Longer than any of the statements takes to reach the server. */
const aMoment = Effect.sleep("100 millis")

layer(database, { excludeTestServices: true })("an interruption", (it) => {
  it.effect("ends statements at once, also when they hold every connection", () =>
    Effect.gen(function* () {
      const busy = yield* Effect.forEach(Array.range(1, connections), () => Effect.fork(nap(30)))
      yield* aMoment
      const [took] = yield* Effect.timed(Fiber.interruptAll(busy))
      yield* nap(0)
      assert.isBelow(Duration.toMillis(took), 3_000)
    })
  )

  it.effect("does not reach the statement that has the connection next", () =>
    Effect.gen(function* () {
      const another = yield* Effect.fork(nap(0.6))
      const interrupted = yield* Effect.fork(nap(0.2))
      yield* aMoment
      const next = yield* Effect.fork(nap(1))
      yield* aMoment
      yield* Fiber.interrupt(interrupted)
      yield* Fiber.joinAll([another, next])
    })
  )

  it.effect("that comes when the statement has ended does not reach it either", () =>
    Effect.gen(function* () {
      const pool = yield* DatabasePool
      const another = yield* Effect.fork(nap(0.6))
      const interrupted = yield* Effect.fork(nap(0.2))
      yield* aMoment
      const next = yield* Effect.fork(nap(0.6))
      yield* aMoment
      pool.once("release", () => queueMicrotask(() => interrupted.unsafeInterruptAsFork(FiberId.none)))
      yield* Fiber.joinAll([another, next])
      yield* interrupted.await
    })
  )

  it.effect("never fails what was not interrupted", () =>
    Effect.gen(function* () {
      const short = Effect.flatMap(Random.nextIntBetween(0, 4), (millis) => nap(millis / 1000))
      const interruptions = Effect.gen(function* () {
        const fiber = yield* Effect.fork(short)
        yield* Effect.sleep(`${yield* Random.nextIntBetween(0, 4)} millis`)
        yield* Fiber.interrupt(fiber)
      })
      yield* Effect.all(
        [Effect.repeatN(interruptions, 300), Effect.repeatN(interruptions, 300), Effect.repeatN(short, 300)],
        { concurrency: "unbounded", discard: true }
      )
    })
  )
})

it.scopedLive("a request waits until the transaction of its statement has begun", () =>
  Effect.gen(function* () {
    const pool = yield* Effect.acquireRelease(
      Effect.sync(() => new Pool({ connectionString: inject("databaseServer").url, pipeline: true })),
      (pool) => Effect.promise(() => pool.end())
    )
    const client = yield* Effect.promise(() => pool.connect())
    usePipeline(client)
    const heard: Array<string> = []
    whenBegun(client, () => heard.push("nothing to wait for"))
    yield* Effect.async<void>((resume) => {
      client.query("BEGIN", () => undefined)
      client.query("SELECT 1", () => {
        heard.push("answered")
        resume(Effect.void)
      })
      whenBegun(client, () => heard.push("begun"))
      heard.push("sent")
    })
    client.release(true)
    deepStrictEqual(heard, ["nothing to wait for", "sent", "begun", "answered"])
  })
)

it.scopedLive("a request that finds no connection in time is dropped", () =>
  Effect.gen(function* () {
    const silent = createServer()
    yield* Effect.acquireRelease(
      Effect.async<void>((resume) => void silent.listen(0, "127.0.0.1", () => resume(Effect.void))),
      () => Effect.sync(() => silent.close())
    )
    const address = silent.address()
    const port = typeof address === "object" ? (address?.port ?? 0) : 0
    const poolOf = (config: PoolConfig) =>
      Effect.acquireRelease(
        Effect.sync(() => new Pool(config)),
        (pool) => Effect.promise(() => pool.end())
      )
    const connections = yield* poolOf({ connectionString: inject("databaseServer").url })
    const requests = yield* poolOf({ host: "127.0.0.1", port, max: 1, connectionTimeoutMillis: 200 })
    useCancelRequests(connections, requests)
    const clients = yield* Effect.promise(() => Promise.all([connections.connect(), connections.connect()]))
    yield* Effect.forEach(
      clients,
      (client) =>
        Effect.async<void>((resume) => {
          const request = `SELECT pg_cancel_backend(${Reflect.get(client, "processID")})`
          connections.query(request, () => resume(Effect.void))
        }),
      { concurrency: "unbounded" }
    )
    clients.forEach((client) => client.release())
  })
)
