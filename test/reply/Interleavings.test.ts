import { SqlClient, SqlSchema } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { DateTime, Effect, Exit, FastCheck, Layer, Option, Redacted, Schema, Scope } from "effect"
import { Chats } from "../../src/channel/Chats.ts"
import type { Channel } from "../../src/channel/domain/Channel.ts"
import { Messages } from "../../src/channel/Messages.ts"
import { AiLogs } from "../../src/reply/AiLogs.ts"
import { AiSettings } from "../../src/reply/AiSettings.ts"
import { ChatModelFailure } from "../../src/reply/ChatModel.ts"
import * as Life from "../channel/Life.ts"
import { Mortal } from "../channel/Mortal.ts"
import { noon, pass, passUntil } from "../channel/Passing.ts"
import { told } from "../channel/ToldEvents.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

const chat = FastCheck.constantFrom("1", "2")
const step = FastCheck.oneof(
  { weight: 6, arbitrary: FastCheck.record({ do: FastCheck.constant("write" as const), chat }) },
  { weight: 1, arbitrary: FastCheck.record({ do: FastCheck.constant("person" as const), chat }) },
  {
    weight: 3,
    arbitrary: FastCheck.record({
      do: FastCheck.constant("switch" as const),
      what: FastCheck.constantFrom("global" as const, "account" as const, "chat" as const),
      isOn: FastCheck.boolean()
    })
  },
  {
    weight: 2,
    arbitrary: FastCheck.record({
      do: FastCheck.constant("configure" as const),
      debounceSeconds: FastCheck.constantFrom(0, 4),
      replyDelaySeconds: FastCheck.constantFrom(0, 3),
      humanTakeoverMinutes: FastCheck.constantFrom(0, 1)
    })
  },
  {
    weight: 2,
    arbitrary: FastCheck.record({
      do: FastCheck.constant("provider" as const),
      thinking: FastCheck.integer({ min: 0, max: 5 }),
      fails: FastCheck.boolean()
    })
  },
  { weight: 1, arbitrary: FastCheck.record({ do: FastCheck.constant("lose" as const) }) },
  { weight: 2, arbitrary: FastCheck.record({ do: FastCheck.constant("rest" as const) }) },
  {
    weight: 3,
    arbitrary: FastCheck.record({
      do: FastCheck.constant("crash" as const),
      in: FastCheck.integer({ min: 1, max: 60 })
    })
  },
  {
    weight: 5,
    arbitrary: FastCheck.record({
      do: FastCheck.constant("pass" as const),
      seconds: FastCheck.oneof({ weight: 4, arbitrary: FastCheck.integer({ min: 1, max: 9 }) }, FastCheck.constant(320))
    })
  }
)
type Step =
  FastCheck.Arbitrary<unknown> extends never ? never : typeof step extends FastCheck.Arbitrary<infer A> ? A : never

const failure = new ChatModelFailure({
  kind: "provider_error",
  status: Option.none(),
  message: "down",
  retryAfter: Option.none()
})

const numberIn = (text: string | undefined) => Number(/message (\d+)/.exec(text ?? "")?.[1] ?? -1)

/** Messages that a worker has marked as being sent: the platform may hear of them at any moment. */
const underWay = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  SqlSchema.findAll({
    Request: Schema.Void,
    Result: Schema.Struct({ id: Schema.String }),
    execute: () => sql`SELECT id FROM messages WHERE status = 'sending'`
  })(undefined)
).pipe(Effect.map((rows) => new Set(rows.map(({ id }) => id))))

/** Plays the steps with loops that die and come back, and then lets everything settle. */
const play = Effect.fn(function* (steps: ReadonlyArray<Step>) {
  yield* noon
  const world = new Life.World()
  world.reply = ({ turns }) => `to message ${numberIn(turns.findLast(({ role }) => role === "user")?.content)}`
  const control = yield* Layer.build(Life.layer(world))
  return yield* Effect.gen(function* () {
    const ai = yield* AiSettings
    const chats = yield* Chats
    const messages = yield* Messages
    const channel: Channel = yield* Life.connected
    yield* ai.putGlobal({ enabled: true, humanTakeoverMinutes: 0 }, Option.some(Redacted.make("sk-test")))
    let written = 0
    let life = yield* Scope.make()
    let mortal = new Mortal(Infinity)
    let rouse: Effect.Effect<void> = Effect.void
    const off = new Set<string>()

    const live = Effect.fn(function* (lastStep: number) {
      mortal.isDead = true
      yield* Scope.close(life, Exit.void)
      life = yield* Scope.make()
      mortal = new Mortal(lastStep)
      const services = yield* Scope.extend(Layer.build(Life.layer(world, mortal)), life)
      mortal.isBorn = true
      rouse = (yield* Scope.extend(Effect.provide(Life.answering(channel.id), services), life)).rouse
    })
    const seen = Effect.fn(function* (chatId: string, body: string, isPerson: boolean) {
      const changes = isPerson ? { direction: "outgoing" as const, sender: Option.some("shop") } : {}
      world.write(chatId, body, DateTime.formatIso(yield* DateTime.now), changes)
      yield* messages.record(channel, world.inbox.slice(-1), Effect.succeed(true))
      yield* rouse
    })
    const turn = Effect.fn(function* (what: "global" | "account" | "chat", isOn: boolean) {
      if (what === "global") yield* ai.putGlobal({ enabled: isOn }, Option.none())
      if (what === "account") yield* ai.putAccount(channel.id, { enabled: isOn }, Option.none())
      if (what === "chat") {
        yield* chats
          .update(channel.id, "pb:1", { aiMode: isOn ? "inherit" : "disabled" })
          .pipe(Effect.catchTag("ChatNotFound", () => Effect.void))
      }
      const known = what !== "chat" || Option.isSome(yield* Effect.option(chats.byId(channel.id, "pb:1")))
      if (isOn) off.delete(what)
      else if (known && !off.has(what)) off.add(what)
    })

    yield* live(Infinity)
    const sentWhileOff: Array<string> = []
    let looked = 0
    let hasRested = false
    let mayCome: ReadonlySet<string> = new Set()
    const look = Effect.sync(() => {
      for (const { chatId, clientId } of world.sent.slice(looked)) {
        const isOff = off.has("global") || off.has("account") || (off.has("chat") && chatId === "pb:1")
        if (isOff && !mayCome.has(clientId)) sentWhileOff.push(clientId)
      }
      looked = world.sent.length
    })
    for (const one of steps) {
      yield* look
      if (one.do === "write") yield* seen(one.chat, `message ${++written}`, false)
      if (one.do === "person") yield* seen(one.chat, "let me see", true)
      if (one.do === "switch") {
        yield* turn(one.what, one.isOn)
        if (!one.isOn)
          mayCome = new Set([...mayCome, ...(yield* underWay), ...world.sent.map(({ clientId }) => clientId)])
      }
      if (one.do === "configure") {
        const { do: _, ...changes } = one
        yield* ai.putAccount(channel.id, changes, Option.none())
      }
      if (one.do === "provider") {
        world.thinking = `${one.thinking} seconds`
        if (one.fails) world.answers.push(failure)
      }
      if (one.do === "lose") world.troubles.push({ at: "send", reason: "unavailable", lost: true })
      if (one.do === "rest" && !hasRested) {
        hasRested = true
        world.troubles.push({ at: "send", reason: "rate_limited" })
      }
      if (one.do === "crash") yield* live(one.in)
      if (one.do === "pass") yield* pass(one.seconds)
      if (mortal.isDead) yield* live(Infinity)
    }
    yield* look
    world.answers.length = 0
    world.troubles.length = 0
    yield* live(Infinity)
    const logs = yield* AiLogs
    const query = { accountId: Option.some<string>(channel.id), chatId: Option.none(), status: Option.none() }
    const all = logs.page({ ...query, before: Option.none(), limit: 100 })
    yield* passUntil(
      Effect.map(all, (rows) => rows.every(({ isOpen }) => !isOpen)),
      900
    )
    yield* Scope.close(life, Exit.void)
    return { world, written, sentWhileOff, logs: yield* all, events: yield* told(channel.id) }
  }).pipe(Effect.provide(control))
})

/** What chance seldom finds: a switch that is turned off while a reply is queued, by a person or a setting. */
const queuedThenOff: ReadonlyArray<Step> = [
  { do: "write", chat: "1" },
  { do: "write", chat: "2" },
  { do: "rest" },
  { do: "pass", seconds: 9 },
  { do: "pass", seconds: 9 },
  { do: "switch", what: "account", isOn: false },
  { do: "pass", seconds: 320 },
  { do: "pass", seconds: 9 }
]

layer(TestDatabase.layer)("replies, whatever happens in between", (it) => {
  it.scoped.prop(
    "are sent at most once for a message, in order, never after a switch was off, and all end",
    [FastCheck.array(step, { minLength: 5, maxLength: 30 })],
    ([steps]) =>
      Effect.gen(function* () {
        const { events, logs, sentWhileOff, world, written } = yield* play(steps)
        deepStrictEqual(sentWhileOff, [])
        assert.strictEqual(logs.length, written)
        deepStrictEqual(
          logs.filter(({ isOpen }) => isOpen),
          []
        )
        const answered = world.sent.map(({ body, chatId }) => ({ chatId, number: numberIn(body) }))
        assert.strictEqual(
          new Set(answered.map(({ number }) => number)).size,
          answered.length,
          "one reply for a message"
        )
        for (const chatId of ["pb:1", "pb:2"]) {
          const numbers = answered.filter((reply) => reply.chatId === chatId).map(({ number }) => number)
          deepStrictEqual(
            numbers,
            numbers.toSorted((one, other) => one - other)
          )
        }
        const sent = logs.filter(({ status }) => status === "sent")
        assert.strictEqual(sent.length, answered.length)
        const toldOf = events.filter(({ event }) => event === "ai.reply.sent").map(({ data }) => data["message_id"])
        deepStrictEqual(toldOf.toSorted(), sent.map(({ messageId }) => messageId).toSorted())
      }),
    {
      fastCheck: { numRuns: Number(process.env["INTERLEAVINGS"] ?? 12), examples: [[[...queuedThenOff]]] },
      timeout: 600_000
    }
  )
})
