import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Array, Clock, Context, DateTime, Duration, Effect, Fiber, Layer, Option, Redacted, TestClock } from "effect"
import { Chats } from "../../src/channel/Chats.ts"
import type { Channel } from "../../src/channel/domain/Channel.ts"
import { Messages } from "../../src/channel/Messages.ts"
import { AiLogs } from "../../src/reply/AiLogs.ts"
import { AiSettings } from "../../src/reply/AiSettings.ts"
import { AutoReply } from "../../src/reply/AutoReply.ts"
import { ChatModelFailure } from "../../src/reply/ChatModel.ts"
import { ReplyChannel } from "../../src/reply/ReplyChannel.ts"
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

/** A channel that was written to, with its loops under way. */
const written = Effect.fn(function* (
  world: Life.World,
  settings: Parameters<typeof AiSettings.Service.putAccount>[1] = {},
  seen: Parameters<Life.World["write"]>[3] = {}
) {
  yield* noon
  const ai = yield* AiSettings
  yield* ai.putGlobal({ enabled: true }, Option.none())
  const channel = yield* Life.connected
  yield* ai.putAccount(channel.id, settings, key)
  yield* hear(world, channel, "Are you open?", seen)
  const { startAgain } = yield* Life.answering(channel.id)
  return { channel, outcome: outcomeOf(channel.id), startAgain }
})

const hear = Effect.fn(function* (
  world: Life.World,
  channel: Channel,
  text: string,
  seen: Parameters<Life.World["write"]>[3] = {}
) {
  const messages = yield* Messages
  world.write("1", text, DateTime.formatIso(yield* DateTime.now), seen)
  yield* messages.record(channel, world.inbox.slice(-1), Effect.succeed(true))
})

const logsOf = Effect.fn(function* (accountId: string) {
  const logs = yield* AiLogs
  const query = { accountId: Option.some(accountId), chatId: Option.none(), status: Option.none() }
  const rows = yield* logs.page({ ...query, before: Option.none(), limit: 100 })
  return rows.toReversed()
})

/** What became of the last message, once nothing is open. */
const outcomeOf = Effect.fn(function* (accountId: string) {
  yield* passUntil(Effect.map(logsOf(accountId), (rows) => rows.every(({ isOpen }) => !isOpen)))
  const last = (yield* logsOf(accountId)).at(-1)
  return { status: last?.status, reason: Option.getOrNull(last?.reason ?? Option.none()) }
})

const aiEvents = (id: string) =>
  Effect.map(told(id), (events) => events.map(({ event }) => event).filter((event) => event.startsWith("ai.")))

layer(TestDatabase.layer)("AutoReply", (it) => {
  it.scoped("is sent when it would have been typed, though the loop that typed it has crashed", () => {
    const world = new Life.World()
    world.reply = () => "With the greatest pleasure. ".repeat(20)
    return Effect.gen(function* () {
      const { channel, startAgain } = yield* written(world, { replyDelaySeconds: 0 })
      const isTyping = Effect.map(logsOf(channel.id), (rows) => rows.some(({ status }) => status === "generated"))
      assert.isTrue(yield* passUntil(isTyping))
      yield* startAgain
      assert.isTrue(
        yield* passUntil(
          Effect.sync(() => world.sent.length === 1),
          15
        )
      )
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.scoped("skips without a key, and never asks nor sends", () => {
    const world = new Life.World()
    return Effect.gen(function* () {
      const ai = yield* AiSettings
      const { channel } = yield* written(world, { enabled: false })
      const outcome = outcomeOf(channel.id)
      deepStrictEqual(yield* outcome, { status: "skipped", reason: "account disabled" })
      yield* ai.putAccount(channel.id, { enabled: true }, Option.some(null))
      yield* hear(world, channel, "Hello?")
      deepStrictEqual(yield* outcome, { status: "skipped", reason: "no API key configured" })
      deepStrictEqual([world.asked, world.sent], [[], []])
      deepStrictEqual(yield* aiEvents(channel.id), [])
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.scoped("asks again what the provider refuses for now, and tells when it gives up", () => {
    const world = new Life.World()
    world.answers.push(failing("rate_limited"), failing("provider_error"), failing("timeout"))
    return Effect.gen(function* () {
      const { channel, outcome } = yield* written(world)
      deepStrictEqual(yield* outcome, { status: "failed", reason: "timeout" })
      const [log] = yield* logsOf(channel.id)
      deepStrictEqual(log?.detail, Option.some("the provider's own words"))
      const failed = (yield* told(channel.id)).find(({ event }) => event === "ai.reply.failed")
      assert.strictEqual(failed?.data["reason"], "timeout")
      assert.strictEqual(world.asked.length, 3)
      deepStrictEqual(world.sent, [])
      deepStrictEqual(yield* aiEvents(channel.id), ["ai.reply.failed"])
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.scoped("answers when a later attempt succeeds", () => {
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

  it.scoped("gives up within three times the time-out, whatever the provider wishes", () => {
    const world = new Life.World()
    world.answers.push(failing("rate_limited", "1 hour"))
    return Effect.gen(function* () {
      const { outcome } = yield* written(world, { timeoutSeconds: 10 })
      deepStrictEqual(yield* outcome, { status: "failed", reason: "rate_limited" })
      assert.strictEqual(world.asked.length, 1)
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.scoped("asks once more about the newer half when the conversation is too long", () => {
    const world = new Life.World()
    return Effect.gen(function* () {
      const { channel, outcome } = yield* written(world)
      yield* outcome
      world.answers.push(
        failing("context_too_long"),
        "Shorter.",
        failing("context_too_long"),
        failing("context_too_long")
      )
      yield* hear(world, channel, "And on Monday?")
      deepStrictEqual(yield* outcome, { status: "sent", reason: null })
      const shown = world.asked.slice(1).map(({ turns }) => turns.map(({ content }) => content))
      deepStrictEqual(shown, [
        ["Are you open?", "With pleasure.", "And on Monday?"],
        ["With pleasure.", "And on Monday?"]
      ])
      yield* hear(world, channel, "And then?")
      deepStrictEqual(yield* outcome, { status: "failed", reason: "context_too_long" })
      assert.lengthOf(world.asked, 5)
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.scoped("sends whole sentences of a reply that broke off, and notes it", () => {
    const world = new Life.World()
    world.answers.push({ cutOff: "We are. And on Mon" })
    return Effect.gen(function* () {
      const { outcome } = yield* written(world)
      deepStrictEqual(yield* outcome, { status: "sent", reason: "truncated" })
      deepStrictEqual(
        world.sent.map(({ body }) => body),
        ["We are."]
      )
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.scoped("does not repeat what will never work", () => {
    const world = new Life.World()
    world.answers.push(failing("auth"))
    return Effect.gen(function* () {
      const { outcome } = yield* written(world)
      assert.strictEqual((yield* outcome).status, "failed")
      assert.strictEqual(world.asked.length, 1)
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.scoped("says the message back in echo mode, without a provider", () => {
    const world = new Life.World()
    return Effect.gen(function* () {
      const { channel, outcome } = yield* written(world, { echoMode: true })
      assert.strictEqual((yield* outcome).status, "sent")
      deepStrictEqual([world.asked.length, world.sent[0]?.body], [0, "Are you open?"])
      deepStrictEqual(yield* aiEvents(channel.id), ["ai.reply.generated", "ai.reply.sent"])
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.scoped("looks at the rules again right before it sends", () => {
    const world = new Life.World()
    return Effect.gen(function* () {
      const { channel, outcome } = yield* written(world, { replyDelaySeconds: 60 })
      yield* pass(10)
      const chats = yield* Chats
      yield* chats.update(channel.id, "pb:1", { isBlocked: true })
      yield* pass(65)
      deepStrictEqual(yield* outcome, { status: "skipped", reason: "chat blocked" })
      deepStrictEqual(world.sent, [])
      const messages = yield* Messages
      const page = yield* messages.page(channel.id, "pb:1", { before: Option.none(), limit: 10 })
      deepStrictEqual(
        page.map(({ direction }) => direction),
        ["incoming"]
      )
      const [log] = yield* logsOf(channel.id)
      deepStrictEqual(log?.replyMessageId, Option.none())
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.scoped("shows that somebody types for as long as it takes, again before the platform forgets", () => {
    const world = new Life.World()
    world.answers.push("A long story. ".repeat(60))
    return Effect.gen(function* () {
      yield* noon
      const ai = yield* AiSettings
      yield* ai.putGlobal({ enabled: true }, Option.none())
      const channel = yield* Life.connected
      yield* ai.putAccount(channel.id, { replyDelaySeconds: 0 }, key)
      yield* hear(world, channel, "Tell me")
      const shown: Array<number> = []
      const typing = () => Effect.map(Clock.currentTimeMillis, (now) => void shown.push(now))
      const watched = Layer.succeed(ReplyChannel, { ...(yield* ReplyChannel), typing })
      const replies = Context.get(
        yield* Layer.build(Layer.fresh(AutoReply.layer).pipe(Layer.provide(watched))),
        AutoReply
      )
      const answer = yield* Effect.fork(replies.advance(channel.id, "pb:1"))
      yield* passUntil(Effect.map(Fiber.poll(answer), Option.isSome))
      const [first = 0, ...later] = shown
      deepStrictEqual(
        later.map((at) => at - first),
        [8_000]
      )
      assert.isAtLeast((yield* Clock.currentTimeMillis) - first, 12_000)
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.scoped("does not answer what arrives ten minutes late", () => {
    const world = new Life.World()
    const timestamp = DateTime.unsafeMake("2026-03-01T11:49:59Z")
    return Effect.gen(function* () {
      const { outcome } = yield* written(world, {}, { timestamp })
      deepStrictEqual(yield* outcome, { status: "skipped", reason: "message too old" })
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.scoped("fails with the platform's reason when the reply cannot be sent", () => {
    const world = new Life.World()
    world.troubles.push({ at: "send", reason: "not_found" })
    return Effect.gen(function* () {
      const { channel, outcome } = yield* written(world)
      deepStrictEqual(yield* outcome, { status: "failed", reason: "not_found" })
      deepStrictEqual(yield* aiEvents(channel.id), ["ai.reply.generated", "ai.reply.failed"])
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.scoped(
    "answers nobody after twenty replies in an hour",
    () => {
      const world = new Life.World()
      return Effect.gen(function* () {
        const { channel, outcome } = yield* written(world, { echoMode: true, replyDelaySeconds: 0 })
        yield* outcome
        yield* Effect.forEach(Array.range(2, 21), (number) =>
          Effect.zipRight(hear(world, channel, `message ${number}`), outcomeOf(channel.id))
        )
        deepStrictEqual(yield* outcome, { status: "skipped", reason: "loop protection" })
        assert.lengthOf(world.sent, 20)
        yield* TestClock.adjust("1 hour")
        yield* hear(world, channel, "still there?")
        deepStrictEqual(yield* outcome, { status: "sent", reason: null })
      }).pipe(Effect.provide(Life.layer(world)))
    },
    240_000
  )

  it.scoped("sends a long reply in parts, and ends what is left when one is refused", () => {
    const world = new Life.World()
    world.answers.push("Yes, we are. ".repeat(200), "No, we are not. ".repeat(200))
    return Effect.gen(function* () {
      const { channel, outcome } = yield* written(world)
      deepStrictEqual(yield* outcome, { status: "sent", reason: null })
      assert.strictEqual(world.sent.map(({ body }) => body).join(" "), "Yes, we are. ".repeat(200).trim())
      const parts = world.sent.length
      world.troubles.push({ at: "send", reason: "not_found" })
      yield* hear(world, channel, "And tomorrow?")
      deepStrictEqual(yield* outcome, { status: "failed", reason: "not_found" })
      yield* pass(40)
      assert.lengthOf(world.sent, parts)
    }).pipe(Effect.provide(Life.layer(world)))
  })
})
