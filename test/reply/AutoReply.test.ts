import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { DateTime, Duration, Effect, Fiber, Option, Queue, Redacted } from "effect"
import { messageSender } from "../../src/channel/actor/MessageSender.ts"
import { Chats } from "../../src/channel/Chats.ts"
import { Messages } from "../../src/channel/Messages.ts"
import { AiLogs } from "../../src/reply/AiLogs.ts"
import { AiSettings } from "../../src/reply/AiSettings.ts"
import { AutoReply } from "../../src/reply/AutoReply.ts"
import { ChatModelFailure } from "../../src/reply/ChatModel.ts"
import * as Life from "../channel/Life.ts"
import { noon, pass, passUntil } from "../channel/Passing.ts"
import { told } from "../channel/ToldEvents.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

const key = Option.some(Redacted.make("sk-test"))

const failing = (kind: ChatModelFailure["kind"], retryAfter?: Duration.DurationInput) =>
  new ChatModelFailure({
    kind,
    status: Option.none(),
    message: "the provider's own words",
    retryAfter: Option.map(Option.fromNullable(retryAfter), Duration.decode)
  })

/** A channel that was written to, with the flow under way for that message. */
const written = Effect.fn(function* (
  world: Life.World,
  settings: Parameters<typeof AiSettings.Service.putAccount>[1] = {},
  seen: Parameters<Life.World["write"]>[3] = {}
) {
  yield* noon
  const ai = yield* AiSettings
  const messages = yield* Messages
  const logs = yield* AiLogs
  const replies = yield* AutoReply
  yield* ai.putGlobal({ enabled: true }, Option.none())
  const channel = yield* Life.connected
  yield* ai.putAccount(channel.id, settings, key)
  world.write("1", "Are you open?", DateTime.formatIso(yield* DateTime.now), seen)
  yield* messages.record(channel, world.inbox.slice(-1), Effect.succeed(true))
  yield* Effect.fork(messageSender(channel.id, yield* Queue.sliding<void>(1)))
  const [log] = yield* logs.open(channel.id)
  const flow = yield* Effect.fork(replies.advance(log?.id ?? ""))
  const outcome = Effect.gen(function* () {
    yield* passUntil(Effect.map(Fiber.poll(flow), Option.isSome))
    yield* Fiber.join(flow)
    const query = { accountId: Option.some(channel.id), chatId: Option.none(), status: Option.none() }
    const [settled] = yield* logs.page({ ...query, before: Option.none(), limit: 1 })
    return { status: settled?.status, reason: Option.getOrNull(settled?.reason ?? Option.none()) }
  })
  return { channel, outcome }
})

const aiEvents = (id: string) =>
  Effect.map(told(id), (events) => events.map(({ event }) => event).filter((event) => event.startsWith("ai.")))

layer(TestDatabase.layer)("AutoReply", (it) => {
  it.effect("skips without a key, and never asks nor sends", () => {
    const world = new Life.World()
    return Effect.gen(function* () {
      const ai = yield* AiSettings
      const { channel, outcome } = yield* written(world, { enabled: false })
      deepStrictEqual(yield* outcome, { status: "skipped", reason: "account disabled" })
      yield* ai.putAccount(channel.id, { enabled: true }, Option.some(null))
      const messages = yield* Messages
      const replies = yield* AutoReply
      const logs = yield* AiLogs
      world.write("1", "Hello?", DateTime.formatIso(yield* DateTime.now))
      yield* messages.record(channel, world.inbox.slice(-1), Effect.succeed(true))
      const [open] = yield* logs.open(channel.id)
      yield* replies.advance(open?.id ?? "")
      deepStrictEqual(yield* outcome, { status: "skipped", reason: "no API key configured" })
      deepStrictEqual([world.asked, world.sent], [[], []])
      deepStrictEqual(yield* aiEvents(channel.id), [])
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.effect("asks again what the provider refuses for now, and tells when it gives up", () => {
    const world = new Life.World()
    world.answers.push(failing("rate_limited"), failing("provider_error"), failing("timeout"))
    return Effect.gen(function* () {
      const { channel, outcome } = yield* written(world)
      const { reason, status } = yield* outcome
      assert.strictEqual(status, "failed")
      assert.match(String(reason), /^timeout/)
      assert.strictEqual(world.asked.length, 3)
      deepStrictEqual(world.sent, [])
      deepStrictEqual(yield* aiEvents(channel.id), ["ai.reply.failed"])
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.effect("answers when a later attempt succeeds", () => {
    const world = new Life.World()
    world.answers.push(failing("rate_limited", "5 seconds"), "We are.")
    return Effect.gen(function* () {
      const { outcome } = yield* written(world)
      deepStrictEqual(yield* outcome, { status: "sent", reason: null })
      deepStrictEqual(
        world.sent.map(({ body }) => body),
        ["We are."]
      )
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.effect("gives up within three times the time-out, whatever the provider wishes", () => {
    const world = new Life.World()
    world.answers.push(failing("rate_limited", "1 hour"))
    return Effect.gen(function* () {
      const { outcome } = yield* written(world, { timeoutSeconds: 10 })
      assert.strictEqual((yield* outcome).status, "failed")
      assert.strictEqual(world.asked.length, 1)
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.effect("does not repeat what will never work", () => {
    const world = new Life.World()
    world.answers.push(failing("auth"))
    return Effect.gen(function* () {
      const { outcome } = yield* written(world)
      assert.strictEqual((yield* outcome).status, "failed")
      assert.strictEqual(world.asked.length, 1)
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.effect("says the message back in echo mode, without a provider", () => {
    const world = new Life.World()
    return Effect.gen(function* () {
      const { channel, outcome } = yield* written(world, { echoMode: true })
      assert.strictEqual((yield* outcome).status, "sent")
      deepStrictEqual([world.asked.length, world.sent[0]?.body], [0, "Are you open?"])
      deepStrictEqual(yield* aiEvents(channel.id), ["ai.reply.generated", "ai.reply.sent"])
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.effect("looks at the rules again right before it sends", () => {
    const world = new Life.World()
    return Effect.gen(function* () {
      const { channel, outcome } = yield* written(world, { replyDelaySeconds: 60 })
      yield* pass(10)
      const chats = yield* Chats
      yield* chats.update(channel.id, "pb:1", { isBlocked: true })
      yield* pass(65)
      deepStrictEqual(yield* outcome, { status: "skipped", reason: "chat blocked" })
      deepStrictEqual(world.sent, [])
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.effect("does not answer what arrives ten minutes late", () => {
    const world = new Life.World()
    const timestamp = DateTime.unsafeMake("2026-03-01T11:49:59Z")
    return Effect.gen(function* () {
      const { outcome } = yield* written(world, {}, { timestamp })
      deepStrictEqual(yield* outcome, { status: "skipped", reason: "message too old" })
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.effect("fails with the platform's reason when the reply cannot be sent", () => {
    const world = new Life.World()
    world.troubles.push({ at: "send", reason: "not_found" })
    return Effect.gen(function* () {
      const { channel, outcome } = yield* written(world)
      deepStrictEqual(yield* outcome, { status: "failed", reason: "not_found" })
      deepStrictEqual(yield* aiEvents(channel.id), ["ai.reply.generated", "ai.reply.failed"])
    }).pipe(Effect.provide(Life.layer(world)))
  })
})
