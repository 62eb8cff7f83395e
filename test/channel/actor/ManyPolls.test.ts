import { assert, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Array, Clock, DateTime, Duration, Effect, Layer, Option, Random, Redacted, TestClock } from "effect"
import { PollLoop } from "../../../src/channel/actor/PollLoop.ts"
import { ChannelSessions } from "../../../src/channel/ChannelSessions.ts"
import { Channel, ChannelId } from "../../../src/channel/domain/Channel.ts"
import { PlatformB } from "../../../src/platform/Platform.ts"

const interval = Duration.seconds(20)

const idOf = (nth: number) => ChannelId.make(`00000000-0000-4000-8000-${String(nth).padStart(12, "0")}`)

const openOf = (id: ChannelId) => ({
  channel: Channel.make({
    id,
    name: "Shop",
    platform: "platform_b",
    status: "connected",
    username: Option.none(),
    lastError: Option.none(),
    connectedAt: Option.none(),
    lastSyncedAt: Option.none(),
    createdAt: DateTime.unsafeMake(0)
  }),
  session: Redacted.make<string>(id),
  cursor: Option.some("0"),
  loginCount: 1,
  setbacks: 0,
  hasUnsent: false
})

/** Channels that are all connected, and a platform that does with a poll what the test says. */
const crowd = (answer: (id: string) => Effect.Effect<void>, atOnce?: number) => {
  const polls: Array<{ readonly id: string; readonly at: number }> = []
  const sessions = Layer.mock(ChannelSessions, {
    open: (id) => Effect.succeedSome(openOf(id)),
    keep: () => Effect.succeed(false),
    unattend: () => undefined
  })
  const platform = Layer.mock(PlatformB, {
    poll: (session) =>
      Effect.gen(function* () {
        const id = Redacted.value(session)
        polls.push({ id, at: yield* Clock.currentTimeMillis })
        yield* answer(id)
        return { session, cursor: "0", messages: [] }
      })
  })
  const layer = PollLoop.layer({ interval, ...(atOnce === undefined ? {} : { atOnce }) }).pipe(
    Layer.provide([sessions, platform])
  )
  const join = (nth: number, isNewLogin = true) =>
    Effect.flatMap(PollLoop, (loop) => loop.join(idOf(nth), Effect.void, isNewLogin))
  return { polls, join, layer }
}

const pass = (seconds: number, step = 1) => Effect.repeatN(TestClock.adjust(Duration.seconds(step)), seconds / step - 1)

it.effect("every channel is polled about every interval, and not in step with the others", () => {
  const { join, layer, polls } = crowd(() => Effect.void)
  return Effect.gen(function* () {
    yield* Effect.forEach(Array.range(1, 40), (nth) => join(nth))
    yield* pass(50)
    const times = Object.values(Array.groupBy(polls, ({ id }) => id)).map((of) => of.map(({ at }) => at))
    assert.strictEqual(times.length, 40)
    for (const of of times) {
      assert.isAtMost(of[0] ?? Infinity, 21_000)
      for (const [earlier, later] of Array.zip(of, of.slice(1))) {
        assert.isAtLeast(later - earlier, 14_000)
        assert.isAtMost(later - earlier, 26_100)
      }
    }
    const seconds = Object.values(Array.groupBy(polls, ({ at }) => String(Math.floor(at / 1_000))))
    assert.isBelow(Math.max(...seconds.map((of) => of.length)), 12)
  }).pipe(Effect.provide(layer))
})

it.effect("a platform that hangs holds no more polls than are allowed; others go on when one is over", () => {
  const { join, layer, polls } = crowd(() => Effect.sleep("60 seconds"), 3)
  return Effect.gen(function* () {
    yield* Effect.forEach(Array.range(1, 10), (nth) => join(nth))
    yield* pass(40, 10)
    assert.strictEqual(polls.length, 3)
    yield* pass(60, 10)
    assert.strictEqual(polls.length, 6)
  }).pipe(Effect.provide(layer))
})

it.effect("a poll that crashes pauses its own channel, longer each time", () => {
  const { join, layer, polls } = crowd((id) => (id === idOf(1) ? Effect.dieMessage("poisoned") : Effect.void))
  return Effect.gen(function* () {
    yield* Effect.withRandom(join(1), Random.fixed([0]))
    yield* join(2)
    yield* pass(44)
    const times = polls.filter(({ id }) => id === idOf(1)).map(({ at }) => at)
    const gaps = Array.zipWith(times, times.slice(1), (earlier, later) => later - earlier)
    for (const [nth, pause] of [1, 2, 4, 8, 16].entries()) {
      assert.isAtLeast(gaps[nth] ?? 0, pause * 800)
      assert.isAtMost(gaps[nth] ?? Infinity, pause * 1_200 + 1_100)
    }
    assert.isAtLeast(polls.filter(({ id }) => id === idOf(2)).length, 1)
  }).pipe(Effect.provide(layer))
})

it.effect("a new login gives up the poll of the one before; the same login changes nothing", () => {
  let isHanging = true
  const given: Array<string> = []
  const { join, layer, polls } = crowd((id) =>
    isHanging ? Effect.onInterrupt(Effect.never, () => Effect.sync(() => given.push(id))) : Effect.void
  )
  return Effect.gen(function* () {
    yield* join(1)
    yield* pass(21, 7)
    assert.strictEqual(polls.length, 1)
    yield* join(1, false)
    yield* pass(60, 10)
    assert.strictEqual(polls.length, 1)
    deepStrictEqual(given, [])
    isHanging = false
    yield* join(1)
    deepStrictEqual(given, [idOf(1)])
    yield* pass(21, 7)
    assert.isAtLeast(polls.length, 2)
  }).pipe(Effect.provide(layer))
})

it.effect("who has left is polled no more", () => {
  const { join, layer, polls } = crowd(() => Effect.void)
  return Effect.gen(function* () {
    const loop = yield* PollLoop
    yield* Effect.forEach([1, 2], (nth) => join(nth))
    yield* pass(30, 10)
    yield* loop.leave(idOf(1))
    assert.isFalse(loop.has(idOf(1)))
    const before = polls.length
    yield* pass(60, 10)
    deepStrictEqual(Array.dedupe(polls.slice(before).map(({ id }) => id)), [idOf(2)])
  }).pipe(Effect.provide(layer))
})
