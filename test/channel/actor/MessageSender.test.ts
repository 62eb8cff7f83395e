import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { DateTime, Effect, Fiber, Option, Queue } from "effect"
import { messageSender } from "../../../src/channel/actor/MessageSender.ts"
import { Channels } from "../../../src/channel/Channels.ts"
import type { Channel } from "../../../src/channel/domain/Channel.ts"
import { defaultPacing } from "../../../src/channel/domain/Pacing.ts"
import { MessageId } from "../../../src/channel/domain/Message.ts"
import { Messages, type NewMessage } from "../../../src/channel/Messages.ts"
import { TextMessages } from "../../../src/channel/TextMessages.ts"
import { nextId } from "../../../src/kit/Id.ts"
import { PlatformB } from "../../../src/platform/Platform.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import * as Life from "../Life.ts"
import { noon, pass, passUntil } from "../Passing.ts"
import { told } from "../ToldEvents.ts"

const queue = Effect.fn(function* (channel: Channel, to: string, body: string, more: Partial<NewMessage> = {}) {
  const messages = yield* Messages
  const id = MessageId.make(yield* nextId)
  return yield* messages.queue({ id, channelId: channel.id, to, body, source: "api", ...more })
})

const sending = Effect.gen(function* () {
  yield* noon
  const channel = yield* Life.connected
  const roused = yield* Queue.sliding<void>(1)
  const start = Effect.fork(messageSender(channel.id, roused, yield* PlatformB, () => Effect.void))
  return { channel, start, rouse: Queue.offer(roused, undefined) }
})

const statusesIn = (channel: Channel, chatId: string) =>
  Effect.flatMap(Messages, (messages) =>
    Effect.map(messages.page(channel.id, chatId, { before: Option.none(), limit: 99 }), (page) =>
      page.map(({ status }) => status).reverse()
    )
  )

const sentBodies = (world: Life.World) => world.sent.map(({ body }) => body)

layer(TestDatabase.layer)("MessageSender", (it) => {
  it.effect("sends in order and tells once of each", () => {
    const world = new Life.World()
    return Effect.gen(function* () {
      const { channel, start } = yield* sending
      yield* Effect.forEach(["one", "two", "three"], (body) => queue(channel, "pb:1", body))
      yield* start
      yield* passUntil(Effect.sync(() => world.sent.length === 3))
      yield* pass(1)
      deepStrictEqual(sentBodies(world), ["one", "two", "three"])
      const events = (yield* told(channel.id)).filter(({ event }) => event === "message.sent")
      deepStrictEqual(
        events.map(({ data }) => data["body"]),
        ["one", "two", "three"]
      )
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.effect("does not keep what is to be sent at once waiting for a reply that is being typed", () => {
    const world = new Life.World()
    return Effect.gen(function* () {
      const { channel, start } = yield* sending
      const notBefore = DateTime.addDuration(yield* DateTime.now, "2 minutes")
      yield* queue(channel, "pb:1", "reply", { source: "ai", notBefore })
      yield* queue(channel, "pb:1", "its second part", { source: "ai", notBefore })
      yield* queue(channel, "pb:1", "by a person")
      yield* queue(channel, "pb:1", "asked for", { source: "ai" })
      yield* start
      yield* passUntil(Effect.sync(() => world.sent.length === 2))
      deepStrictEqual(sentBodies(world), ["by a person", "asked for"])
      yield* passUntil(
        Effect.sync(() => world.sent.length === 4),
        180
      )
      deepStrictEqual(sentBodies(world), ["by a person", "asked for", "reply", "its second part"])
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.effect("looks up a send whose answer was lost, and never repeats it", () => {
    const world = new Life.World()
    return Effect.gen(function* () {
      const { channel, start } = yield* sending
      world.troubles.push({ at: "send", reason: "unavailable", lost: true })
      yield* queue(channel, "pb:1", "hello")
      yield* start
      yield* passUntil(Effect.map(statusesIn(channel, "pb:1"), ([status]) => status === "sent"))
      yield* pass(5)
      deepStrictEqual(sentBodies(world), ["hello"])
      deepStrictEqual(yield* statusesIn(channel, "pb:1"), ["sent"])
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.effect("tries again what did not arrive", () => {
    const world = new Life.World()
    return Effect.gen(function* () {
      const { channel, start } = yield* sending
      world.troubles.push({ at: "send", reason: "unavailable" }, { at: "send", reason: "unavailable" })
      yield* queue(channel, "pb:1", "hello")
      yield* start
      yield* pass(25)
      deepStrictEqual(yield* statusesIn(channel, "pb:1"), ["sending"])
      yield* passUntil(Effect.sync(() => world.sent.length === 1))
      deepStrictEqual(sentBodies(world), ["hello"])
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.effect("does not ask the platform again and again for one whose answer was lost and that a cap holds up", () => {
    const world = new Life.World()
    return Effect.gen(function* () {
      const { channel, start } = yield* sending
      const { putPacing } = yield* Channels
      world.troubles.push({ at: "send", reason: "unavailable" })
      yield* queue(channel, "pb:1", "one")
      const loop = yield* start
      yield* passUntil(Effect.map(statusesIn(channel, "pb:1"), ([status]) => status === "sending"))
      yield* Fiber.interrupt(loop)
      const sql = yield* SqlClient.SqlClient
      yield* queue(channel, "pb:2", "two")
      yield* sql`UPDATE messages SET status = 'sent', tried_at = ${DateTime.formatIso(yield* DateTime.now)}
        WHERE channel_id = ${channel.id} AND chat_id = 'pb:2'`
      yield* putPacing(channel, { ...defaultPacing("platform_b"), per_minute: 1 })
      yield* start
      yield* pass(30)
      assert.isAtMost(world.lookups, 3)
      yield* passUntil(
        Effect.sync(() => world.sent.length === 1),
        4_000
      )
      deepStrictEqual(sentBodies(world), ["one"])
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.effect("gives up what the platform will never take, and goes on", () => {
    const world = new Life.World()
    return Effect.gen(function* () {
      const { channel, start } = yield* sending
      world.troubles.push({ at: "send", reason: "unknown_user" })
      const texts = yield* TextMessages
      const refused = yield* Effect.fork(Effect.flip(texts.send(channel, "pbuser:nobody", "hello")))
      yield* pass(1)
      yield* queue(channel, "pb:1", "next")
      yield* start
      yield* passUntil(Effect.sync(() => world.sent.length === 1))
      assert.include(yield* Fiber.join(refused), { _tag: "RecipientWrong" })
      deepStrictEqual(sentBodies(world), ["next"])
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.effect("keeps what waits while sending is frozen, and sends it afterwards", () => {
    const world = new Life.World()
    return Effect.gen(function* () {
      const { channel, start } = yield* sending
      world.troubles.push({ at: "send", reason: "rate_limited" })
      yield* queue(channel, "pb:1", "hello")
      yield* start
      yield* pass(290)
      deepStrictEqual(yield* statusesIn(channel, "pb:1"), ["queued"])
      deepStrictEqual(sentBodies(world), [])
      yield* passUntil(Effect.sync(() => world.sent.length === 1))
      deepStrictEqual(sentBodies(world), ["hello"])
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.effect("stops with the session and keeps what is queued", () => {
    const world = new Life.World()
    return Effect.gen(function* () {
      const { channel, start } = yield* sending
      world.troubles.push({ at: "send", reason: "session_expired" })
      yield* queue(channel, "pb:1", "hello")
      const loop = yield* start
      assert.isTrue(yield* passUntil(Effect.map(Fiber.poll(loop), Option.isSome)))
      deepStrictEqual(yield* statusesIn(channel, "pb:1"), ["queued"])
      const { byId } = yield* Channels
      assert.strictEqual((yield* byId(channel.id)).status, "error")
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.effect("goes on in a person's thread once the platform has named it", () => {
    const world = new Life.World()
    return Effect.gen(function* () {
      const { channel, rouse, start } = yield* sending
      yield* queue(channel, "pbuser:ann", "hello")
      yield* queue(channel, "pbuser:ann", "still there?")
      yield* start
      yield* passUntil(
        Effect.map(statusesIn(channel, "pb:of-ann"), (all) => all.length === 2 && all.every((one) => one === "sent"))
      )
      yield* queue(channel, "pbuser:ann", "goodbye")
      deepStrictEqual(yield* statusesIn(channel, "pb:of-ann"), ["sent", "sent", "queued"])
      yield* rouse
      yield* passUntil(Effect.sync(() => world.sent.length === 3))
      deepStrictEqual(
        world.sent.map(({ chatId }) => chatId),
        ["pb:of-ann", "pb:of-ann", "pb:of-ann"]
      )
      const created = (yield* told(channel.id)).filter(({ event }) => event === "chat.created")
      deepStrictEqual(
        created.map(({ data }) => data["name"]),
        ["ann"]
      )
    }).pipe(Effect.provide(Life.layer(world)))
  })
})
