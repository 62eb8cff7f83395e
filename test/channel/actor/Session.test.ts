import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect, Fiber, Layer, Option, Ref, TestClock } from "effect"
import { session } from "../../../src/channel/actor/Session.ts"
import { Channels } from "../../../src/channel/Channels.ts"
import { LinkedChannels } from "../../../src/channel/LinkedChannels.ts"
import { LinkRepo } from "../../../src/channel/LinkRepo.ts"
import { TypingSigns } from "../../../src/channel/TypingSigns.ts"
import type { PushConnection } from "../../../src/platform/Platform.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import * as Life from "../Life.ts"
import { noon, passUntil } from "../Passing.ts"
import { closed, connected, layer as phones, PhoneWorld, qr } from "../PhoneInMemory.ts"
import { told } from "../ToldEvents.ts"

const nothing = { news: Effect.void, changed: Effect.void }

/** A channel that was asked to link, with its session under way. */
const begun = Effect.fn(function* (phone: PhoneWorld) {
  yield* noon
  const channels = yield* Channels
  const linked = yield* LinkedChannels
  const { id } = (yield* channels.create("Shop", "platform_a")).channel
  yield* Effect.provide(
    Effect.flatMap(LinkRepo, (links) => links.begin(id, Option.none())),
    LinkRepo.Default
  )
  const login = yield* Effect.flatMap(linked.logins([id]), (logins) => Effect.fromNullable(logins.get(id)))
  const live = yield* Ref.make(Option.none<PushConnection>())
  const loop = yield* Effect.fork(Effect.provide(session(login, live, nothing), phones(phone)))
  const state = Effect.map(channels.byId(id), ({ lastError, status }) => [status, Option.getOrNull(lastError)])
  const events = Effect.map(told(id), (all) => all.map(({ event }) => event.replace("connection.", "")))
  return { id, loop, state, events }
})

const connects = (phone: PhoneWorld, times: number) => Effect.sync(() => phone.connectedAt.length === times)

const again = [
  [428, "lost", 0, true],
  [408, "lost", 0, true],
  [500, "lost", 0, true],
  [503, "lost", 0, true],
  [499, "lost", 0, true],
  [515, "restart", 0, false],
  [440, "replaced", 60, true],
  [429, "slow_down", 300, true]
] as const

const over = [
  [401, "logged_out", true],
  [402, "banned", false],
  [403, "banned", false],
  [405, "app_version_rejected", false],
  [406, "banned", false],
  [411, "relink_required", false]
] as const

const services = Life.layer(new Life.World()).pipe(Layer.provideMerge(TestDatabase.layer))

layer(services)("the session of a linked channel", (it) => {
  for (const [code, reason, from, isTold] of again) {
    it.effect(`${code} (${reason}) is followed by another connection after ${from} seconds`, () => {
      const phone = new PhoneWorld()
      phone.script.push([connected, closed(code)])
      return Effect.gen(function* () {
        const { events, loop, state } = yield* begun(phone)
        yield* passUntil(Effect.map(events, (all) => all.length >= (isTold ? 2 : 1)))
        if (from > 0) {
          deepStrictEqual(yield* state, ["connecting", reason])
          yield* TestClock.adjust(`${from - 10} seconds`)
          assert.strictEqual(phone.connectedAt.length, 1)
        }
        assert.isTrue(yield* passUntil(connects(phone, 2), 30))
        const [first = 0, second = 0] = phone.connectedAt
        assert.isAtLeast(second - first, from * 1000)
        assert.isBelow(second - first, (from + 40) * 1000)
        yield* passUntil(Effect.map(state, ([status]) => status === "connected"))
        deepStrictEqual(yield* events, isTold ? ["connected", "disconnected", "connected"] : ["connected"])
        yield* Fiber.interrupt(loop)
      })
    })
  }

  for (const [code, reason, isForgotten] of over) {
    it.effect(`${code} (${reason}) ends it, and says why`, () => {
      const phone = new PhoneWorld()
      phone.script.push([connected, closed(code)])
      return Effect.gen(function* () {
        const { events, id, loop, state } = yield* begun(phone)
        yield* passUntil(Effect.map(Fiber.poll(loop), Option.isSome))
        yield* passUntil(Effect.map(events, (all) => all.length === 2))
        deepStrictEqual(yield* state, ["error", reason])
        deepStrictEqual(yield* events, ["connected", "error"])
        deepStrictEqual(phone.forgotten, isForgotten ? [id] : [])
        assert.strictEqual(phone.connectedAt.length, 1)
      })
    })
  }

  it.effect("a session that is taken twice in a row is left to who has it", () => {
    const phone = new PhoneWorld()
    phone.script.push([connected, closed(440)], [connected, closed(440)])
    return Effect.gen(function* () {
      const { events, loop, state } = yield* begun(phone)
      yield* passUntil(Effect.map(events, (all) => all.length === 2))
      yield* TestClock.adjust("60 seconds")
      yield* passUntil(Effect.map(Fiber.poll(loop), Option.isSome))
      deepStrictEqual(yield* state, ["error", "replaced"])
      deepStrictEqual(yield* events, ["connected", "disconnected", "connected", "error"])
    })
  })

  it.effect("QR codes follow each other until nobody scanned the last one", () => {
    const phone = new PhoneWorld()
    phone.script.push([qr("first"), qr("second"), qr("third"), closed(408, false)])
    return Effect.gen(function* () {
      const { events, id, loop, state } = yield* begun(phone)
      yield* passUntil(Effect.map(Fiber.poll(loop), Option.isSome))
      deepStrictEqual(yield* state, ["disconnected", "qr_expired"])
      deepStrictEqual(yield* events, ["qr", "qr", "qr", "disconnected"])
      deepStrictEqual(phone.forgotten, [id])
    })
  })

  it.effect("without the optional package it ends at once, and says which failure it was", () => {
    const phone = new PhoneWorld()
    phone.script.push("driver_missing")
    return Effect.gen(function* () {
      const { events, loop, state } = yield* begun(phone)
      yield* passUntil(Effect.map(Fiber.poll(loop), Option.isSome))
      deepStrictEqual(yield* state, ["error", "driver_missing"])
      deepStrictEqual(yield* events, ["error"])
    })
  })

  it.effect("what it heard counts as stored, for as long as the login is the one of the moment", () => {
    const phone = new PhoneWorld()
    phone.script.push([connected, closed(428)])
    return Effect.gen(function* () {
      const { id, loop } = yield* begun(phone)
      yield* passUntil(connects(phone, 2))
      yield* passUntil(Effect.sync(() => phone.stored === 3))
      assert.strictEqual(phone.stored, 3)
      const channels = yield* Channels
      yield* channels.logout(id)
      yield* Fiber.interrupt(loop)
      const signs = yield* TypingSigns
      yield* signs.show(id, "1@s.whatsapp.net")
      deepStrictEqual(phone.typing, [])
    })
  })
})
