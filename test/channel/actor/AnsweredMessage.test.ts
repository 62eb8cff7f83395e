import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Clock, DateTime, Duration, Effect, Layer, Option, Redacted } from "effect"
import { ChannelSessions } from "../../../src/channel/ChannelSessions.ts"
import { ChannelWaker } from "../../../src/channel/ChannelWaker.ts"
import type { ChannelId } from "../../../src/channel/domain/Channel.ts"
import { SendQueue } from "../../../src/channel/SendQueue.ts"
import { TypingSigns } from "../../../src/channel/TypingSigns.ts"
import { AiSettings } from "../../../src/reply/AiSettings.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import * as Life from "../Life.ts"
import { Mortal } from "../Mortal.ts"
import { noon, pass, passUntil } from "../Passing.ts"
import { told } from "../ToldEvents.ts"

const pollInterval = Duration.seconds(4)

/** A connected channel whose next poll reports what was written since. */
const answering = Effect.gen(function* () {
  const settings = yield* AiSettings
  yield* settings.putGlobal({ enabled: true, systemPrompt: "Be kind." }, Option.some(Redacted.make("sk-test")))
  const sessions = yield* ChannelSessions
  const channel = yield* Life.connected
  const open = yield* Effect.flatten(sessions.open(channel.id))
  yield* sessions.keep(open, { session: open.session, cursor: "0", messages: [] })
  return channel
})

/** Runs the actor until the message is answered or the life ends. */
const live = (world: Life.World, id: ChannelId, mortal: Mortal) =>
  Effect.gen(function* () {
    const isAnswered = Effect.map(told(id), (events) => events.some(({ event }) => event === "ai.reply.sent"))
    const { start, waker } = Life.hearing()
    const services = yield* Layer.build(Life.layer(world, mortal, waker))
    mortal.isBorn = true
    yield* start(id, { pollInterval }).pipe(Effect.sandbox, Effect.either, Effect.provide(services))
    yield* passUntil(Effect.map(isAnswered, (isAnswered) => isAnswered || mortal.isDead))
    return yield* isAnswered
  }).pipe(Effect.scoped)

const story = (id: string) =>
  Effect.map(told(id), (events) => events.map(({ event }) => event).filter((event) => !event.startsWith("connection")))

layer(TestDatabase.layer)("a message is answered", (it) => {
  it.effect("in the order of the specification, after the delay and the typing", () => {
    const world = new Life.World()
    return Effect.gen(function* () {
      yield* noon
      const { id } = yield* Effect.provide(answering, Life.layer(world))
      world.write("1", "Are you open today?", DateTime.formatIso(yield* DateTime.now))
      assert.isTrue(yield* live(world, id, new Mortal(Infinity)))
      deepStrictEqual(yield* story(id), [
        "chat.created",
        "message.received",
        "ai.reply.generated",
        "message.sent",
        "ai.reply.sent"
      ])
      deepStrictEqual(
        world.sent.map(({ body, chatId }) => [chatId, body]),
        [["pb:1", "With pleasure."]]
      )
      deepStrictEqual(world.asked[0]?.turns, [
        { role: "system", content: "Be kind." },
        { role: "user", content: "Are you open today?" }
      ])
    })
  })

  it.effect("while the other side sees somebody type, again before the platform forgets it", () => {
    const world = new Life.World()
    world.reply = () => "With the greatest pleasure. ".repeat(20)
    return Effect.gen(function* () {
      yield* noon
      const { id } = yield* Effect.provide(answering, Life.layer(world))
      world.write("1", "Are you open today?", DateTime.formatIso(yield* DateTime.now))
      const shown: Array<number> = []
      const { start, waker } = Life.hearing()
      yield* Effect.gen(function* () {
        const signs = yield* TypingSigns
        const sign = (chat: string, isTyping: boolean) =>
          Effect.map(Clock.currentTimeMillis, (at) => void (chat === "pb:1" && isTyping && shown.push(at)))
        yield* signs.through(id, Option.some(sign))
        yield* start(id, { pollInterval })
        yield* passUntil(Effect.sync(() => world.sent.length === 1))
        yield* pass(20)
      }).pipe(Effect.scoped, Effect.provide(Life.layer(world, new Mortal(Infinity), waker)))
      const [first = 0, second = 0] = shown
      assert.strictEqual(shown.length, 2)
      assert.strictEqual(second - first, 8_000)
    })
  })

  it.effect("and the next one at once, though the channel sent the reply before it was typed", () => {
    const world = new Life.World()
    world.reply = () => "With the greatest pleasure. ".repeat(20)
    return Effect.gen(function* () {
      yield* noon
      const { id } = yield* Effect.provide(answering, Life.layer(world))
      const now = DateTime.formatIso(yield* DateTime.now)
      world.write("1", "Are you open today?", now)
      world.write("1", "And tomorrow?", now)
      const { start, waker } = Life.hearing()
      yield* Effect.gen(function* () {
        const settings = yield* AiSettings
        const queue = yield* SendQueue
        const { wake } = yield* ChannelWaker
        yield* settings.putAccount(id, { replyDelaySeconds: 0 }, Option.none())
        yield* start(id, { pollInterval })
        yield* passUntil(
          Effect.map(
            Effect.flatMap(DateTime.now, (at) => queue.nextMoment(id, at)),
            Option.isSome
          )
        )
        const [isSent, isNextAsked] = [() => world.sent.length === 1, () => world.asked.length === 2]
        const released = Effect.zipRight(queue.release(id), wake(id))
        assert.isTrue(yield* passUntil(Effect.map(released, isSent), 5))
        assert.isTrue(yield* passUntil(Effect.sync(isNextAsked), 15))
      }).pipe(Effect.scoped, Effect.provide(Life.layer(world, new Mortal(Infinity), waker)))
    })
  })

  it.effect(
    "once, whenever the program is killed",
    () =>
      Effect.gen(function* () {
        yield* noon
        let lastStep = 0
        let isWhole = false
        while (!isWhole) {
          lastStep += 1
          const world = new Life.World()
          const { id } = yield* Effect.provide(answering, Life.layer(world))
          world.write("1", "Are you open today?", DateTime.formatIso(yield* DateTime.now))
          const mortal = new Mortal(lastStep)
          yield* live(world, id, mortal)
          isWhole = !mortal.isDead
          assert.isTrue(yield* live(world, id, new Mortal(Infinity)), `answered after step ${lastStep}`)
          assert.strictEqual(world.sent.length, 1, `sent once after step ${lastStep}`)
          deepStrictEqual(
            (yield* story(id)).toSorted(),
            ["ai.reply.generated", "ai.reply.sent", "chat.created", "message.received", "message.sent"],
            `told once after step ${lastStep}`
          )
        }
        assert.isAbove(lastStep, 20)
      }),
    600_000
  )
})
