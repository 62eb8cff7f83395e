import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect, Fiber, Option } from "effect"
import { Channels } from "../../src/channel/Channels.ts"
import { Chats } from "../../src/channel/Chats.ts"
import type { Channel } from "../../src/channel/domain/Channel.ts"
import { MessageId } from "../../src/channel/domain/Message.ts"
import { MessageRepo } from "../../src/channel/MessageRepo.ts"
import { Messages } from "../../src/channel/Messages.ts"
import { TextMessages } from "../../src/channel/TextMessages.ts"
import { nextId } from "../../src/kit/Id.ts"
import { AiLogs } from "../../src/reply/AiLogs.ts"
import { ReplyChannel } from "../../src/reply/ReplyChannel.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import * as Life from "./Life.ts"
import { noon, pass } from "./Passing.ts"
import { told } from "./ToldEvents.ts"

const written = "2026-03-01T12:00:00Z"
const always = Effect.succeed(true)
const firstPage = { before: Option.none<string>(), limit: 50 }

const recorded = (channel: Channel, world: Life.World) =>
  Effect.flatMap(Messages, (messages) => messages.record(channel, world.inbox, always))

const queued = Effect.fn(function* (channel: Channel, to: string, body: string) {
  const messages = yield* Messages
  const id = MessageId.make(yield* nextId)
  return yield* messages.queue({ id, channelId: channel.id, to, body, source: "api" })
})

layer(TestDatabase.layer)("Messages", (it) => {
  it.effect("stores what a poll saw once, with chat, events and reply jobs", () => {
    const world = new Life.World()
    world.write("1", "hello", written)
    world.write("2", "anyone?", written)
    world.write("1", "are you open?", written)
    return Effect.gen(function* () {
      const channel = yield* Life.connected
      const messages = yield* Messages
      const chats = yield* Chats
      assert.isTrue(yield* recorded(channel, world))
      assert.isFalse(yield* recorded(channel, world))

      const page = yield* messages.page(channel.id, "pb:1", firstPage)
      deepStrictEqual(
        page.map(({ body }) => body),
        ["are you open?", "hello"]
      )
      const listed = yield* chats.page(channel.id, firstPage)
      deepStrictEqual(
        listed.map(({ chatId, unreadCount }) => [chatId, unreadCount]),
        [
          ["pb:1", 2],
          ["pb:2", 1]
        ]
      )
      const events = (yield* told(channel.id)).slice(1)
      deepStrictEqual(
        events.map(({ data, event }) => [event, data["chat_id"], data["body"]]),
        [
          ["chat.created", "pb:1", undefined],
          ["chat.created", "pb:2", undefined],
          ["message.received", "pb:1", "hello"],
          ["message.received", "pb:2", "anyone?"],
          ["message.received", "pb:1", "are you open?"]
        ]
      )
      const logs = yield* AiLogs
      const query = {
        accountId: Option.some(channel.id),
        chatId: Option.none(),
        status: Option.some("pending" as const)
      }
      assert.strictEqual((yield* logs.page({ ...query, ...firstPage })).length, 3)
      deepStrictEqual((yield* logs.due(channel.id, 9, [])).map(({ chatId }) => chatId).toSorted(), ["pb:1", "pb:2"])
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.effect("removes none that was noted as sent meanwhile", () =>
    Effect.gen(function* () {
      const { byId, remove } = yield* MessageRepo
      const messages = yield* Messages
      const message = yield* queued(yield* Life.connected, "pb:1", "hello")
      const { id, timestamp } = message
      yield* messages.sent(message, { chatId: "pb:1", platformMessageId: "item-9", timestamp })
      yield* remove([id])
      assert.isTrue(Option.isSome(yield* byId(id)))
    }).pipe(Effect.provide(MessageRepo.Default), Effect.provide(Life.layer(new Life.World())))
  )

  it.effect("tells of a received message with every field of the payload", () => {
    const world = new Life.World()
    world.write("1", "hello", written)
    return Effect.gen(function* () {
      const channel = yield* Life.connected
      yield* recorded(channel, world)
      const received = (yield* told(channel.id)).find(({ event }) => event === "message.received")
      const { message_id, ...rest } = received?.data ?? {}
      assert.isString(message_id)
      deepStrictEqual(rest, {
        platform_a_message_id: "item-1",
        chat_id: "pb:1",
        chat_type: "private",
        direction: "incoming",
        type: "text",
        from: "customer1",
        to: "shop",
        body: "hello",
        status: "delivered",
        error: null,
        source: "platform",
        not_before: null,
        timestamp: "2026-03-01T12:00:00.000Z"
      })
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.effect("tells what a person typed on the phone from what we sent", () => {
    const world = new Life.World()
    return Effect.gen(function* () {
      const channel = yield* Life.connected
      const ours = yield* queued(channel, "pb:1", "from the API")
      const seen = { direction: "outgoing" as const, sender: Option.some("shop") }
      world.write("1", "from the API", written, { ...seen, clientId: Option.some(ours.id) })
      world.write("1", "from the phone", written, { ...seen, clientId: Option.some("6ba7b810") })
      yield* recorded(channel, world)
      yield* recorded(channel, world)
      const messages = yield* Messages
      const page = yield* messages.page(channel.id, "pb:1", firstPage)
      deepStrictEqual(
        page.map(({ body, source, status }) => [body, source, status]),
        [
          ["from the phone", "manual", "sent"],
          ["from the API", "api", "sent"]
        ]
      )
      const sent = (yield* told(channel.id)).filter(({ event }) => event === "message.sent")
      deepStrictEqual(
        sent.map(({ data }) => data["source"]),
        ["api", "manual"]
      )
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.effect("stores a message of a customer who borrows the id of one of ours", () => {
    const world = new Life.World()
    return Effect.gen(function* () {
      const channel = yield* Life.connected
      const ours = yield* queued(channel, "pb:1", "secret offer")
      world.write("1", "hello", written, { clientId: Option.some(ours.id) })
      assert.isTrue(yield* recorded(channel, world))
      const messages = yield* Messages
      const page = yield* messages.page(channel.id, "pb:1", firstPage)
      assert.sameMembers(
        page.map(({ body, status }) => `${body}: ${status}`),
        ["hello: delivered", "secret offer: queued"]
      )
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.effect("takes a message for sent even where the platform showed it without our id before", () => {
    const world = new Life.World()
    world.write("1", "hi", written, { direction: "outgoing", platformMessageId: "own-1" })
    return Effect.gen(function* () {
      const channel = yield* Life.connected
      const messages = yield* Messages
      const ours = yield* queued(channel, "pb:1", "hi")
      yield* recorded(channel, world)
      yield* messages.sent(ours, { chatId: "pb:1", platformMessageId: "own-1", timestamp: ours.timestamp })
      const page = yield* messages.page(channel.id, "pb:1", firstPage)
      deepStrictEqual(
        page.map(({ status }) => status),
        ["sent", "sent"]
      )
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.effect("stores nothing when the cursor cannot move on", () => {
    const world = new Life.World()
    world.write("1", "hello", written)
    return Effect.gen(function* () {
      const channel = yield* Life.connected
      const messages = yield* Messages
      assert.isFalse(yield* messages.record(channel, world.inbox, Effect.succeed(false)))
      deepStrictEqual(yield* messages.page(channel.id, "pb:1", firstPage), [])
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.effect("answers a text that stays queued after 10 seconds, and refuses what cannot be sent", () =>
    Effect.gen(function* () {
      yield* noon
      const channel = yield* Life.connected
      const texts = yield* TextMessages
      const sending = yield* Effect.fork(texts.send(channel, "pb:1", "hello"))
      yield* pass(12)
      assert.strictEqual((yield* Fiber.join(sending)).status, "queued")
      const wrong = yield* Effect.flip(texts.send(channel, "+4912345", "hello"))
      assert.strictEqual(wrong._tag, "RecipientWrong")
      const { disconnect } = yield* Channels
      const gone = yield* Effect.flip(texts.send(yield* disconnect(channel.id), "pb:1", "hello"))
      assert.strictEqual(gone._tag, "NotConnected")
    }).pipe(Effect.provide(Life.layer(new Life.World())))
  )

  it.effect("pages chats by activity while new messages come in", () => {
    const world = new Life.World()
    for (const chat of ["1", "2", "3", "4"]) world.write(chat, "hello", written)
    return Effect.gen(function* () {
      const channel = yield* Life.connected
      const chats = yield* Chats
      yield* recorded(channel, world)
      const first = yield* chats.page(channel.id, { before: Option.none(), limit: 2 })
      world.write("3", "again", written)
      yield* recorded(channel, world)
      const before = Option.fromNullable(first[1]?.lastMessageId)
      const second = yield* chats.page(channel.id, { before, limit: 2 })
      deepStrictEqual(
        [...first, ...second].map(({ chatId }) => chatId),
        ["pb:4", "pb:3", "pb:2", "pb:1"]
      )
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.effect("shows the provider the replies in between, and the message to answer last", () => {
    const world = new Life.World()
    world.write("1", "first", written)
    world.write("1", "second", written)
    world.write("1", "third", written)
    return Effect.gen(function* () {
      const channel = yield* Life.connected
      const replies = yield* ReplyChannel
      const messages = yield* Messages
      yield* recorded(channel, world)
      yield* queued(channel, "pb:1", "answer to first")
      const page = yield* messages.page(channel.id, "pb:1", firstPage)
      const second = page.find(({ body }) => body === "second")
      const upTo = Option.fromNullable(second?.id)
      const windows = yield* replies.windows([{ accountId: channel.id, chatId: "pb:1", upTo, limit: 20 }])
      deepStrictEqual(
        windows.map((window) => window.map(({ body }) => body)),
        [["first", "answer to first", "second"]]
      )
    }).pipe(Effect.provide(Life.layer(world)))
  })
})
