import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { DateTime, Effect, Exit, FastCheck, Layer, Option, Redacted, Scope, TestClock } from "effect"
import type { Channel } from "../../src/channel/domain/Channel.ts"
import { Messages } from "../../src/channel/Messages.ts"
import { AiLogs } from "../../src/reply/AiLogs.ts"
import { AiSettings } from "../../src/reply/AiSettings.ts"
import { handOffMark } from "../../src/reply/domain/ManagerAlert.ts"
import * as Life from "../channel/Life.ts"
import { Mortal } from "../channel/Mortal.ts"
import { noon, pass, passUntil } from "../channel/Passing.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

const manager = "pb:99"
const alerts = { enabled: true, to: manager, keywords: ["refund"] }

/** A shop with a manager, and lives of the program one after the other. */
const shop = Effect.fn(function* (world: Life.World) {
  yield* noon
  const ai = yield* AiSettings
  const messages = yield* Messages
  const logs = yield* AiLogs
  yield* ai.putGlobal({ enabled: true, replyDelaySeconds: 0 }, Option.some(Redacted.make("sk-test")))
  const channel: Channel = yield* Life.connected
  const configure = (changes: Partial<typeof alerts>) =>
    ai.putAccount(channel.id, { managerAlerts: { ...alerts, ...changes } }, Option.none())
  yield* configure({})
  let life = yield* Scope.make()
  let mortal = new Mortal(Infinity)
  let rouse: Effect.Effect<void> = Effect.void

  const live = Effect.fn(function* (lastStep: number) {
    mortal.isDead = true
    yield* Scope.close(life, Exit.void)
    life = yield* Scope.make()
    mortal = new Mortal(lastStep)
    const services = yield* Scope.extend(Layer.build(Life.layer(world, mortal)), life)
    mortal.isBorn = true
    rouse = (yield* Scope.extend(Effect.provide(Life.answering(channel.id), services), life)).rouse
  })
  yield* Effect.addFinalizer(() => Scope.close(life, Exit.void))
  yield* live(Infinity)

  const query = { accountId: Option.some<string>(channel.id), chatId: Option.none(), status: Option.none() }
  const settled = Effect.map(logs.page({ ...query, before: Option.none(), limit: 100 }), (rows) =>
    rows.every(({ isOpen }) => !isOpen)
  )
  /** A message of a customer, until it is answered and the manager has what there is. */
  const hear = Effect.fn(function* (chat: string, text: string, diesAfter = Infinity) {
    if (diesAfter !== Infinity) yield* live(diesAfter)
    world.write(chat, text, DateTime.formatIso(yield* DateTime.now))
    yield* messages.record(channel, world.inbox.slice(-1), Effect.succeed(true))
    yield* rouse
    yield* passUntil(
      Effect.suspend(() => (mortal.isDead ? Effect.succeed(true) : settled)),
      60
    )
    if (mortal.isDead) yield* live(Infinity)
    yield* passUntil(settled, 60)
    yield* pass(8)
  })
  const told = (to = manager) => world.sent.filter(({ chatId }) => chatId === to).map(({ body }) => body)
  return { configure, hear, told }
})

layer(TestDatabase.layer)("the manager", (it) => {
  it.scoped("is told once about a chat in a quiet time, and then how often not", () => {
    const world = new Life.World()
    return Effect.gen(function* () {
      const { configure, hear, told } = yield* shop(world)
      yield* hear("1", "a refund")
      yield* hear("1", "a refund!")
      yield* hear("1", "A REFUND!!")
      yield* hear("2", "a refund as well")
      world.answers.push(`A person will answer. ${handOffMark}`)
      yield* hear("1", "a refund, or a person")
      deepStrictEqual(told(), [
        "“refund” in the chat with customer 1:\na refund",
        "“refund” in the chat with customer 2:\na refund as well",
        "A person is asked for in the chat with customer 1:\na refund, or a person"
      ])
      yield* TestClock.adjust("15 minutes")
      yield* hear("1", "my refund")
      assert.strictEqual(
        told().at(-1),
        "“refund” in the chat with customer 1 (held back since the last alert: 3):\nmy refund"
      )
      yield* configure({ to: "pb:98" })
      yield* hear("1", "refund?")
      deepStrictEqual(told("pb:98"), ["“refund” in the chat with customer 1:\nrefund?"])
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.scoped.prop(
    "is told once, wherever the program dies",
    [FastCheck.integer({ min: 1, max: 40 }), FastCheck.integer({ min: 1, max: 40 })],
    ([first, second]) => {
      const world = new Life.World()
      return Effect.gen(function* () {
        const { hear, told } = yield* shop(world)
        world.reply = () => `A person will answer. ${handOffMark}`
        yield* hear("1", "a refund", first)
        yield* hear("1", "a refund again", second)
        deepStrictEqual(told().toSorted(), [
          "A person is asked for in the chat with customer 1:\na refund",
          "“refund” in the chat with customer 1:\na refund"
        ])
        yield* TestClock.adjust("15 minutes")
        yield* hear("1", "the last refund")
        deepStrictEqual(told().slice(2).toSorted(), [
          "A person is asked for in the chat with customer 1 (held back since the last alert: 1):\nthe last refund",
          "“refund” in the chat with customer 1 (held back since the last alert: 1):\nthe last refund"
        ])
      }).pipe(Effect.provide(Life.layer(world)))
    },
    { fastCheck: { numRuns: 10 }, timeout: 120_000 }
  )
})
