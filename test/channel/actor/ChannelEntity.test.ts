import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Duration, Effect, Layer, Option, Redacted } from "effect"
import * as ChannelEntity from "../../../src/channel/actor/ChannelEntity.ts"
import { PollLoop } from "../../../src/channel/actor/PollLoop.ts"
import * as WakeChannels from "../../../src/channel/actor/WakeChannels.ts"
import { Channels } from "../../../src/channel/Channels.ts"
import { Messages } from "../../../src/channel/Messages.ts"
import { TextMessages } from "../../../src/channel/TextMessages.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import { until } from "../../support/Until.ts"
import * as TestSharding from "../../support/TestSharding.ts"
import * as Life from "../Life.ts"
import { Mortal } from "../Mortal.ts"

const gateway = (world: Life.World) => {
  const waker = WakeChannels.waker.pipe(Layer.provide(TestSharding.layer))
  return Layer.mergeAll(
    Layer.provide(ChannelEntity.layer, PollLoop.layer({ interval: Duration.millis(200) })),
    WakeChannels.layer({ pollInterval: Duration.millis(200) })
  ).pipe(Layer.provideMerge(TestSharding.layer), Layer.provideMerge(Life.layer(world, new Mortal(Infinity), waker)))
}

const bodies = (channelId: Parameters<typeof Messages.Service.page>[0]) =>
  Effect.flatMap(Messages, (messages) =>
    Effect.map(messages.page(channelId, "pb:1", { before: Option.none(), limit: 9 }), (page) =>
      page.map(({ body }) => body).reverse()
    )
  )

const soon = <E, R>(holds: Effect.Effect<boolean, E, R>) => until(holds, (isSo) => isSo)

layer(TestDatabase.layer, { excludeTestServices: true })("ChannelEntity", (it) => {
  it.effect("a channel that crashes again and again leaves the others untouched, and recovers", () => {
    const world = new Life.World()
    return Effect.gen(function* () {
      world.poisoned.add("poisoned")
      const sick = yield* Life.connectedAs("poisoned")
      const well = yield* Life.connectedAs("shop")
      yield* soon(Effect.sync(() => world.polls.length >= 2))
      world.write("1", "hello", "2026-03-01T12:00:10Z")
      yield* soon(Effect.map(bodies(well.id), (seen) => seen.length === 1))
      deepStrictEqual(yield* bodies(sick.id), [])

      world.poisoned.clear()
      const before = world.polls.filter((cursor) => cursor === "baseline").length
      yield* soon(Effect.sync(() => world.polls.filter((cursor) => cursor === "baseline").length > before))
      world.write("1", "better?", "2026-03-01T12:02:00Z")
      yield* soon(Effect.map(bodies(sick.id), (seen) => seen.includes("better?")))
      yield* soon(Effect.map(bodies(well.id), (seen) => seen.join() === "hello,better?"))
    }).pipe(Effect.provide(gateway(world)))
  })

  it.effect("a channel whose session cannot be opened keeps none from starting that is woken with it", () => {
    const world = new Life.World()
    return Effect.gen(function* () {
      const [sick, well] = yield* Effect.provide(
        Effect.gen(function* () {
          const both = [yield* Life.connectedAs("unreadable"), yield* Life.connectedAs("readable")] as const
          const sql = yield* SqlClient.SqlClient
          yield* sql`UPDATE channels SET session_sealed = 'v1.of.another.key' WHERE id = ${both[0].id}`
          return both
        }),
        Life.layer(world)
      )
      const services = Layer.provide(ChannelEntity.layer, PollLoop.layer({ interval: Duration.millis(200) })).pipe(
        Layer.provideMerge(TestSharding.layer),
        Layer.provideMerge(Life.layer(world))
      )
      yield* Effect.gen(function* () {
        const clientOf = yield* ChannelEntity.ChannelEntity.client
        yield* clientOf("lane-1").Wake({ ids: [sick.id, well.id] })
        yield* soon(Effect.sync(() => world.polledBy.includes("readable")))
      }).pipe(Effect.provide(services))
    })
  })

  it.effect("starts what was connected, sends at once, and stops with the channel", () => {
    const world = new Life.World()
    return Effect.gen(function* () {
      const channel = yield* Effect.provide(Life.connectedAs("second"), Life.layer(world))
      const polls = Effect.sync(() => world.polledBy.filter((name) => name === "second").length)
      yield* Effect.gen(function* () {
        const texts = yield* TextMessages
        const channels = yield* Channels
        yield* soon(Effect.map(polls, (count) => count >= 1))
        assert.strictEqual((yield* texts.send(channel, "pb:1", "hello")).status, "sent")
        yield* channels.disconnect(channel.id)
        const [, before] = yield* until(
          Effect.all([polls, Effect.delay(polls, "600 millis")]),
          ([earlier, later]) => earlier === later
        )
        const again = { username: "second", password: Redacted.make("correct horse") }
        yield* channels.connect(channel.id, again, Option.none())
        yield* soon(Effect.map(polls, (count) => count > before))
      }).pipe(Effect.provide(gateway(world)))
    })
  })
})
