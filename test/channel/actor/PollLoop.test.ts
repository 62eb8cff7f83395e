import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { DateTime, Duration, Effect, Layer, Option, Random } from "effect"
import { PollLoop } from "../../../src/channel/actor/PollLoop.ts"
import { Channels } from "../../../src/channel/Channels.ts"
import { Messages } from "../../../src/channel/Messages.ts"
import type { PlatformFailure } from "../../../src/platform/Platform.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import * as Life from "../Life.ts"
import { noon, pass, passUntil } from "../Passing.ts"
import { told } from "../ToldEvents.ts"

const interval = Duration.seconds(20)

const services = (world: Life.World) => Layer.provideMerge(PollLoop.layer({ interval }), Life.layer(world))

const polling = (world: Life.World) =>
  Effect.gen(function* () {
    yield* noon
    const channel = yield* Life.connected
    const news: Array<DateTime.Utc> = []
    const onNews = Effect.map(DateTime.now, (now) => void news.push(now))
    const loop = yield* PollLoop
    yield* loop.join(channel.id, onNews, true)
    yield* passUntil(Effect.sync(() => world.polls.length === 1))
    return { channel, loop, news }
  })

const gap = (world: Life.World, seconds: number) =>
  Effect.gen(function* () {
    const before = world.polls.length
    yield* passUntil(
      Effect.sync(() => world.polls.length > before),
      seconds + 1
    )
    return world.polls.length - before
  })

layer(TestDatabase.layer)("PollLoop", (it) => {
  it.effect("sets the baseline at once, then polls about every interval", () => {
    const world = new Life.World()
    world.write("1", "before the channel was connected", "2026-03-01T11:00:00Z")
    return Effect.gen(function* () {
      const { channel, news } = yield* polling(world)
      deepStrictEqual(world.polls, ["baseline"])
      world.write("1", "hello", "2026-03-01T12:00:10Z")
      yield* pass(100)
      assert.isAtLeast(world.polls.length, 1 + 4)
      assert.isAtMost(world.polls.length, 1 + 7)
      assert.strictEqual(news.length, 1)
      const messages = yield* Messages
      const page = yield* messages.page(channel.id, "pb:1", { before: Option.none(), limit: 9 })
      deepStrictEqual(
        page.map(({ body }) => body),
        ["hello"]
      )
    }).pipe(Effect.provide(services(world)))
  })

  it.effect("goes on where it was after a restart, from a phase of its own", () => {
    const world = new Life.World()
    return Effect.gen(function* () {
      const { channel, loop } = yield* polling(world)
      const channels = yield* Channels
      yield* passUntil(Effect.map(channels.byId(channel.id), ({ lastSyncedAt }) => Option.isSome(lastSyncedAt)))
      yield* loop.leave(channel.id)
      world.write("1", "while we were away", "2026-03-01T12:00:10Z")
      yield* Effect.withRandom(loop.join(channel.id, Effect.void, true), Random.fixed([0.5]))
      assert.strictEqual(yield* gap(world, 8), 0)
      yield* pass(4)
      deepStrictEqual(world.polls, ["baseline", "0"])
      const messages = yield* Messages
      assert.strictEqual((yield* messages.page(channel.id, "pb:1", { before: Option.none(), limit: 9 })).length, 1)
    }).pipe(Effect.provide(services(world)))
  })

  it.effect("waits longer while the platform is away, and rests when it is asked to", () => {
    const world = new Life.World()
    return Effect.gen(function* () {
      const { channel } = yield* polling(world)
      world.troubles.push({ at: "poll", reason: "unavailable" }, { at: "poll", reason: "unavailable" })
      assert.strictEqual(yield* gap(world, 25), 1)
      assert.strictEqual(yield* gap(world, 18), 0)
      assert.strictEqual(yield* gap(world, 8), 1)
      assert.strictEqual(yield* gap(world, 37), 0)
      assert.strictEqual(yield* gap(world, 14), 1)

      world.troubles.push({ at: "poll", reason: "rate_limited" })
      assert.strictEqual(yield* gap(world, 25), 1)
      const channels = yield* Channels
      const trouble = Effect.map(channels.byId(channel.id), ({ lastError }) => Option.getOrNull(lastError))
      yield* passUntil(Effect.map(trouble, (reason) => reason === "rate_limited"))
      assert.strictEqual(yield* trouble, "rate_limited")
      assert.strictEqual(yield* gap(world, 290), 0)
      assert.strictEqual(yield* gap(world, 90), 1)
      yield* passUntil(Effect.map(trouble, (reason) => reason === null))
      assert.isNull(yield* trouble)
    }).pipe(Effect.provide(services(world)))
  })

  const ends: ReadonlyArray<readonly [PlatformFailure["reason"], string]> = [
    ["session_expired", "error"],
    ["logged_out", "error"],
    ["app_version_rejected", "error"],
    ["challenge_required", "challenge_required"]
  ]
  for (const [reason, status] of ends) {
    it.effect(`stops and says why: ${reason}`, () => {
      const world = new Life.World()
      return Effect.gen(function* () {
        const { channel, loop } = yield* polling(world)
        world.troubles.push({ at: "poll", reason })
        assert.isTrue(yield* passUntil(Effect.sync(() => !loop.has(channel.id))))
        const last = (yield* told(channel.id)).at(-1)
        assert.strictEqual(last?.event, "connection.error")
        assert.deepInclude(last?.data, { status, reason })
        assert.strictEqual(yield* gap(world, 60), 0)
      }).pipe(Effect.provide(services(world)))
    })
  }
})
