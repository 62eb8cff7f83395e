import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { SqlClient } from "@effect/sql"
import { Chunk, DateTime, Deferred, Effect, Fiber, Option, Random, Schedule, Stream } from "effect"
import { nextId } from "../../src/kit/Id.ts"
import type { Owner } from "../../src/webhook/domain/Webhook.ts"
import { EventFeed } from "../../src/webhook/EventFeed.ts"
import { EventLogRepo, isAfter } from "../../src/webhook/EventLogRepo.ts"
import { Outbox } from "../../src/webhook/Outbox.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import { engine, newOwner, publish } from "./Engine.ts"

/** Events that only show that a reader has begun. */
const trials = new Set<string>()

const read = ({ fiber }: { readonly fiber: Fiber.Fiber<Chunk.Chunk<string>> }) =>
  Effect.map(Fiber.join(fiber), (ids) => Chunk.toReadonlyArray(ids))

/** The ids of the next events after one, read in the background. */
const followAfter = (owner: Owner, count: number, after: string) =>
  Effect.gen(function* () {
    const feed = yield* EventFeed
    const events = feed.events({ ownerId: Option.some(owner.id), after: Option.some(after) })
    const ids = Stream.map(Stream.take(events, count), ({ id }) => id)
    return { fiber: yield* Effect.forkScoped(Stream.runCollect(ids)) }
  }).pipe(Effect.map(read))

/**
 * The ids of what happens once a reader has begun, read in the background. It begins behind every transaction that is
 * still open anywhere on the server, so that it may be told what came just before it: those ids are left out.
 */
const follow = (publisher: Owner, ownerId: Option.Option<string>, count: number) =>
  Effect.gen(function* () {
    const feed = yield* EventFeed
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql<{ readonly id: string }>`SELECT id FROM webhook_events`
    const earlier = new Set(rows.map(({ id }) => id))
    const hasBegun = yield* Deferred.make<void>()
    const fiber = yield* feed.events({ ownerId, after: Option.none() }).pipe(
      Stream.map(({ id }) => id),
      Stream.tap((id) => Effect.when(Deferred.succeed(hasBegun, undefined), () => trials.has(id))),
      Stream.filter((id) => !earlier.has(id) && !trials.has(id)),
      Stream.take(count),
      Stream.runCollect,
      Effect.forkScoped
    )
    yield* Effect.sleep("20 millis").pipe(
      Effect.zipRight(Effect.map(nextId, (id) => trials.add(id) && id)),
      Effect.flatMap((id) => publish(publisher, "message.received", {}, id)),
      Effect.repeat({ until: () => Deferred.isDone(hasBegun) })
    )
    return { fiber }
  }).pipe(Effect.map(read))

/** Publishes in a transaction that stays open until it is let go. */
const slowly = (owner: Owner, go: Deferred.Deferred<void>) =>
  Effect.gen(function* () {
    const outbox = yield* Outbox
    const eventId = yield* nextId
    const timestamp = yield* DateTime.now
    const event = { eventId, owner, event: "message.received", timestamp, data: {} }
    const done = yield* Effect.fork(outbox.transaction(Effect.zipLeft(outbox.publish([event]), Deferred.await(go))))
    yield* Effect.sleep("50 millis")
    return { eventId, done }
  })

layer(TestDatabase.layer, { excludeTestServices: true })("the feed of events", (it) => {
  it.scoped("tells what happens from now on, to each reader what it asked for", () =>
    Effect.gen(function* () {
      const [one, other, app] = [yield* newOwner(), yield* newOwner(), yield* newOwner("app")]
      yield* publish(one)
      const all = yield* follow(one, Option.none(), 3)
      const own = yield* follow(one, Option.some(one.id), 2)
      const ids = [yield* publish(one), yield* publish(other), yield* publish(one)]
      yield* publish(app)
      deepStrictEqual(yield* all, ids)
      deepStrictEqual(yield* own, [ids[0] ?? "", ids[2] ?? ""])
    }).pipe(Effect.provide(engine()))
  )

  it.scoped("goes on after any event, across many pages, and on to what is live", () =>
    Effect.gen(function* () {
      const owner = yield* newOwner()
      const ids = yield* Effect.forEach(Array.from({ length: 450 }), () => publish(owner))
      const rest = yield* followAfter(owner, 450, ids[0] ?? "")
      const last = yield* publish(owner)
      deepStrictEqual(yield* rest, [...ids.slice(1), last])
    }).pipe(Effect.provide(engine()))
  )

  it.scoped("reads little of what is heavy at one time, and all of it in the end", () =>
    Effect.gen(function* () {
      const repo = yield* EventLogRepo
      const owner = yield* newOwner()
      const body = "x".repeat(100 * 1024)
      const ids = yield* Effect.forEach(Array.from({ length: 8 }), () => publish(owner, "message.received", body))
      const after = Option.getOrThrow(yield* repo.positionOf(ids[0] ?? ""))
      const last = Option.getOrThrow(yield* repo.positionOf(ids[7] ?? ""))
      const hasPassed = Effect.map(repo.tip(), (tip) => isAfter(tip, last))
      yield* Effect.repeat(hasPassed, { until: (isSo) => isSo, schedule: Schedule.spaced("20 millis") })
      const before = yield* repo.tip()
      const { events, isAll } = yield* repo.between({ after, before, ownerId: owner.id })
      deepStrictEqual([events.length, isAll], [3, false])
      const rest = yield* followAfter(owner, 8, ids[0] ?? "")
      const live = yield* follow(owner, Option.some(owner.id), 5)
      const more = yield* Effect.forEach(Array.from({ length: 5 }), () => publish(owner, "message.received", body), {
        concurrency: 5
      })
      deepStrictEqual((yield* rest).slice(0, 7), ids.slice(1))
      deepStrictEqual(new Set(yield* live), new Set(more))
    }).pipe(Effect.provide([engine(), EventLogRepo.Default]))
  )

  it.scoped("misses nothing that commits late", () =>
    Effect.gen(function* () {
      const owner = yield* newOwner()
      const go = yield* Deferred.make<void>()
      const live = yield* follow(owner, Option.some(owner.id), 2)
      const late = yield* slowly(owner, go)
      const early = yield* publish(owner)
      yield* Effect.sleep("300 millis")
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(late.done)
      deepStrictEqual(new Set(yield* live), new Set([early, late.eventId]))
      const [first, second] = [...(yield* live)]
      const resumed = yield* followAfter(owner, 1, first ?? "")
      deepStrictEqual(yield* resumed, [second ?? ""])
    }).pipe(Effect.provide(engine()))
  )

  it.scoped("tells each of many events once, whoever writes them at once and whoever comes back in between", () =>
    Effect.gen(function* () {
      const owner = yield* newOwner()
      const live = yield* follow(owner, Option.some(owner.id), 400)
      const first = yield* publish(owner)
      const ids = yield* Effect.forEach(
        Array.from({ length: 399 }),
        () =>
          Effect.zipRight(
            Effect.flatMap(Random.nextIntBetween(0, 20), (millis) => Effect.sleep(millis)),
            publish(owner)
          ),
        { concurrency: 16 }
      )
      const seen = yield* live
      deepStrictEqual(new Set(seen), new Set([first, ...ids]))
      for (const nth of [0, 100, 250, 398]) {
        const again = yield* followAfter(owner, 399 - nth, seen[nth] ?? "")
        deepStrictEqual(yield* again, seen.slice(nth + 1))
      }
    }).pipe(Effect.provide(engine()))
  )

  it.scoped("goes on from an event that is not kept any more", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* newOwner()
      const [gone, kept] = [yield* publish(owner), yield* publish(owner)]
      yield* sql`DELETE FROM webhook_events WHERE id = ${gone}`
      deepStrictEqual(yield* yield* followAfter(owner, 1, gone), [kept])
      assert.isAbove(kept.length, 0)
    }).pipe(Effect.provide(engine()))
  )
})
