import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { Array, Duration, Effect, Fiber, Layer, Random } from "effect"
import { DatabaseAddress } from "../../src/sql/Database.ts"
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
