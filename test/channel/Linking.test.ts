import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { DateTime, Effect, Layer, Option } from "effect"
import { Channels } from "../../src/channel/Channels.ts"
import { Linking } from "../../src/channel/Linking.ts"
import { LinkRepo } from "../../src/channel/LinkRepo.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import * as Life from "./Life.ts"
import { layer as phones, PhoneWorld } from "./PhoneInMemory.ts"
import { told } from "./ToldEvents.ts"

const services = Layer.merge(Life.layer(new Life.World()), LinkRepo.Default).pipe(
  Layer.provideMerge(TestDatabase.layer)
)

/** A channel that a phone has linked. */
const linked = Effect.gen(function* () {
  const channels = yield* Channels
  const links = yield* LinkRepo
  const { id } = (yield* channels.create("Shop", "platform_a")).channel
  yield* links.begin(id, Option.none())
  const at = yield* DateTime.now
  yield* links.connected({ id, loginCount: 1, username: "491700000001", sessionSealed: "linked", at })
  return id
})

const through = (phone: PhoneWorld) => Effect.provide(Linking, Linking.layer.pipe(Layer.provide(phones(phone))))

layer(services)("a logout of a linked channel", (it) => {
  for (const isAway of [false, true]) {
    it.effect(`unlinks, and then forgets${isAway ? ", also when the platform is away" : ""}`, () =>
      Effect.gen(function* () {
        const phone = new PhoneWorld()
        phone.isAway = isAway
        const id = yield* linked
        const linking = yield* through(phone)
        assert.strictEqual((yield* linking.logout(id)).status, "disconnected")
        deepStrictEqual(phone.deeds, ["unlink", "forget"])
        deepStrictEqual(phone.forgotten, [id])
        deepStrictEqual(
          (yield* told(id)).map(({ event }) => event),
          ["connection.disconnected"]
        )
      })
    )
  }

  it.effect("that a crash cut short is finished before the channel is linked anew; a disconnect is no logout", () =>
    Effect.gen(function* () {
      const phone = new PhoneWorld()
      const channels = yield* Channels
      const linking = yield* through(phone)
      const kept = yield* linked
      yield* Effect.fork(linking.connect(yield* channels.disconnect(kept), Option.none()))
      yield* Effect.yieldNow()
      const left = yield* linked
      yield* Effect.fork(linking.connect(yield* channels.logout(left), Option.none()))
      const links = yield* LinkRepo
      const isBegun = (id: typeof left) =>
        Effect.map(
          links.byId(id),
          Option.exists(({ status }) => status === "connecting")
        )
      yield* Effect.repeat(
        Effect.zipWith(isBegun(kept), isBegun(left), (one, other) => one && other),
        {
          until: (areBegun) => areBegun
        }
      )
      deepStrictEqual(phone.forgotten, [left])
    })
  )
})
