import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { DateTime, Effect, Layer, Option, Redacted, TestClock } from "effect"
import { Channels } from "../../src/channel/Channels.ts"
import { ChannelSessions } from "../../src/channel/ChannelSessions.ts"
import { PlatformFailure } from "../../src/platform/Platform.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import * as Life from "./Life.ts"
import { noon } from "./Passing.ts"
import { told } from "./ToldEvents.ts"

const password = Redacted.make("correct horse")
const shop = { username: "shop", password }

const failure = (reason: PlatformFailure["reason"]) =>
  new PlatformFailure({ reason, detail: reason, retryAfter: Option.none() })

const namesTold = (id: string) => Effect.map(told(id), (events) => events.map(({ event }) => event))

layer(TestDatabase.layer)("Channels", (it) => {
  it.effect("shows a token once and knows the channel by it", () =>
    Effect.gen(function* () {
      const channels = yield* Channels
      const { channel, token } = yield* channels.create("Shop", "platform_b")
      assert.match(Redacted.value(token), /^gh_ch_[0-9A-Za-z]{49}$/)
      deepStrictEqual(
        Option.map(yield* channels.authenticate(token), ({ id }) => id),
        Option.some(channel.id)
      )
      assert.isTrue(Option.isNone(yield* channels.authenticate(Redacted.make("gh_ch_wrong"))))
      assert.strictEqual((yield* channels.byId(channel.id)).status, "disconnected")
    }).pipe(Effect.provide(Life.layer(new Life.World())))
  )

  it.effect("lists channels newest first, page by page", () =>
    Effect.gen(function* () {
      const channels = yield* Channels
      const made = yield* Effect.forEach(["a", "b", "c"], (name) => channels.create(name, "platform_a"))
      const first = yield* channels.page({ before: Option.none(), limit: 2 })
      const second = yield* channels.page({ before: Option.fromNullable(first[1]?.id), limit: 2 })
      deepStrictEqual(
        [...first, ...second].slice(0, 3).map(({ name }) => name),
        made.map(({ channel }) => channel.name).reverse()
      )
    }).pipe(Effect.provide(Life.layer(new Life.World())))
  )

  it.effect("connects by password, with a second factor, and by the code of a challenge", () =>
    Effect.gen(function* () {
      const channels = yield* Channels
      const connect = (id: string, username: string, code?: string) =>
        channels.connect(id, { username, password }, Option.map(Option.fromNullable(code), Redacted.make))
      const one = (yield* channels.create("one", "platform_b")).channel.id
      assert.strictEqual((yield* connect(one, "shop")).status, "connected")
      deepStrictEqual(yield* namesTold(one), ["connection.connected"])

      const two = (yield* channels.create("two", "platform_b")).channel.id
      assert.strictEqual((yield* connect(two, "two-factor")).status, "two_factor_required")
      deepStrictEqual(yield* namesTold(two), [])
      assert.strictEqual((yield* connect(two, "two-factor", "123456")).status, "connected")

      const three = (yield* channels.create("three", "platform_b")).channel.id
      const answer = (code: string) =>
        channels.answerChallenge(three, { username: "challenged", password }, Redacted.make(code))
      assert.strictEqual((yield* Effect.flip(answer("123456")))._tag, "ChannelStateForbids")
      assert.strictEqual((yield* connect(three, "challenged")).status, "challenge_required")
      assert.include(yield* Effect.flip(answer("000000")), { reason: "wrong_code" })
      assert.strictEqual((yield* answer("123456")).status, "connected")
    }).pipe(Effect.provide(Life.layer(new Life.World())))
  )

  it.effect("keeps the session sealed, and neither password nor code", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const channel = yield* Life.connected
      const [row] = yield* sql`SELECT row_to_json(channels)::text AS text FROM channels WHERE id = ${channel.id}`
      assert.notInclude(JSON.stringify(row), "correct horse")
      assert.notInclude(JSON.stringify(row), "a session")
    }).pipe(Effect.provide(Life.layer(new Life.World())))
  )

  it.effect("notes why a login failed and stays as it was", () => {
    const world = new Life.World()
    return Effect.gen(function* () {
      const channels = yield* Channels
      const { channel } = yield* channels.create("Shop", "platform_b")
      world.troubles.push({ at: "login", reason: "bad_password" })
      const refused = yield* Effect.flip(channels.connect(channel.id, shop, Option.none()))
      assert.include(refused, { _tag: "PlatformFailure", reason: "bad_password" })
      const after = yield* channels.byId(channel.id)
      assert.strictEqual(after.status, "disconnected")
      deepStrictEqual(after.lastError, Option.some("bad_password"))
    }).pipe(Effect.provide(Life.layer(world)))
  })

  it.effect(
    "tries three logins an hour without a success, whatever process is asked, and counts anew after one",
    () => {
      const world = new Life.World()
      return Effect.gen(function* () {
        yield* noon
        const channels = yield* Channels
        const make = Effect.map(channels.create("Shop", "platform_b"), ({ channel }) => channel.id)
        const connect = (id: string) => channels.connect(id, shop, Option.none())
        const refused = Effect.fn(function* (id: string) {
          world.troubles.push({ at: "login", reason: "bad_password" })
          assert.strictEqual((yield* Effect.flip(connect(id)))._tag, "PlatformFailure")
          yield* TestClock.adjust("1 minute")
        })
        const one = yield* make
        yield* Effect.repeatN(refused(one), 1)
        assert.strictEqual((yield* connect(one)).status, "connected")
        yield* Effect.repeatN(refused(one), 2)
        const tooMany = yield* Effect.provide(
          Effect.flatMap(Channels, (restarted) => Effect.flip(restarted.connect(one, shop, Option.none()))),
          Layer.fresh(Life.layer(world))
        )
        assert.isTrue(
          tooMany._tag === "TooManyLogins" && DateTime.formatIso(tooMany.nextAt) === "2026-03-01T13:02:00.000Z"
        )
        assert.strictEqual((yield* connect(yield* make)).status, "connected")
        yield* TestClock.adjust("57 minutes")
        assert.strictEqual((yield* connect(one)).status, "connected")
      }).pipe(Effect.provide(Life.layer(world)))
    }
  )

  it.effect("tries three codes an hour without a success, beside the logins by password", () =>
    Effect.gen(function* () {
      yield* noon
      const channels = yield* Channels
      const { id } = (yield* channels.create("Shop", "platform_b")).channel
      const challenged = { username: "challenged", password }
      const answer = (code: string) => channels.answerChallenge(id, challenged, Redacted.make(code))
      const wrong = Effect.zipRight(Effect.flip(answer("000000")), TestClock.adjust("1 minute"))
      const ask = channels.connect(id, challenged, Option.none())
      yield* ask
      yield* Effect.repeatN(wrong, 2)
      const tooMany = yield* Effect.flip(answer("123456"))
      assert.isTrue(
        tooMany._tag === "TooManyLogins" && DateTime.formatIso(tooMany.nextAt) === "2026-03-01T13:00:00.000Z"
      )
      assert.strictEqual((yield* ask).status, "challenge_required")
      yield* TestClock.adjust("57 minutes")
      assert.strictEqual((yield* answer("123456")).status, "connected")
      yield* ask
      yield* Effect.repeatN(wrong, 1)
      assert.strictEqual((yield* answer("123456")).status, "connected")
    }).pipe(Effect.provide(Life.layer(new Life.World())))
  )

  it.effect("disconnects once and keeps the session", () =>
    Effect.gen(function* () {
      const channels = yield* Channels
      const sessions = yield* ChannelSessions
      const { id } = yield* Life.connected
      assert.strictEqual((yield* channels.disconnect(id)).status, "disconnected")
      yield* channels.disconnect(id)
      deepStrictEqual(yield* namesTold(id), ["connection.connected", "connection.disconnected"])
      assert.isTrue(Option.isNone(yield* sessions.open(id)))
    }).pipe(Effect.provide(Life.layer(new Life.World())))
  )

  it.effect("a turn that ends after a new login changes nothing", () =>
    Effect.gen(function* () {
      const channels = yield* Channels
      const sessions = yield* ChannelSessions
      const { id } = yield* Life.connected
      const before = yield* Effect.flatten(sessions.open(id))
      yield* channels.connect(id, shop, Option.none())
      const polled = { session: Redacted.make("an old session"), cursor: "7", messages: [] }
      assert.isFalse(yield* sessions.keep(before, polled))
      yield* sessions.lost(before, failure("session_expired"), "error")
      const after = yield* Effect.flatten(sessions.open(id))
      assert.strictEqual(Redacted.value(after.session), "a session of shop")
      deepStrictEqual(after.cursor, Option.none())
      assert.notInclude(yield* namesTold(id), "connection.error")
    }).pipe(Effect.provide(Life.layer(new Life.World())))
  )

  it.effect("tells once why a connection was lost", () =>
    Effect.gen(function* () {
      const channels = yield* Channels
      const sessions = yield* ChannelSessions
      const { id } = yield* Life.connected
      const open = yield* Effect.flatten(sessions.open(id))
      yield* sessions.lost(open, failure("challenge_required"), "challenge_required")
      yield* sessions.lost(open, failure("challenge_required"), "challenge_required")
      const [, lost, ...more] = yield* told(id)
      deepStrictEqual(more, [])
      deepStrictEqual(lost, {
        event: "connection.error",
        data: { account_id: id, platform: "platform_b", status: "challenge_required", reason: "challenge_required" }
      })
      assert.strictEqual((yield* channels.byId(id)).status, "challenge_required")
    }).pipe(Effect.provide(Life.layer(new Life.World())))
  )

  it.effect("removes a channel with everything that it stored", () =>
    Effect.gen(function* () {
      const channels = yield* Channels
      const channel = yield* Life.connected
      yield* channels.remove(channel)
      assert.strictEqual((yield* Effect.flip(channels.byId(channel.id)))._tag, "ChannelNotFound")
    }).pipe(Effect.provide(Life.layer(new Life.World())))
  )
})
