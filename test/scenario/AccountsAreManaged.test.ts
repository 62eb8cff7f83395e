import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { call } from "../support/Api.ts"
import { placesOf, query } from "../support/DatabaseWords.ts"
import * as Gatehouse from "../support/Gatehouse.ts"
import { eventually, makeChannel, makeWorld, operatorToken, write } from "../support/Story.ts"

describe("accounts are managed", () => {
  it.live(
    "passwords and codes are found nowhere afterwards",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const world = yield* makeWorld
          const program = yield* Gatehouse.serve({ ...world.env, LOG_LEVEL: "debug" })
          const { url } = program
          const token = yield* operatorToken(url)
          const post = (path: string, body: object) => call("POST", `${url}/v1${path}`, { token, body })
          const simulate = (body: object) => call("POST", `${world.platformB.url}/_control/accounts`, { body })
          const [password, wrong] = ["Zq7-right-password", "Zq7-wrong-password"]
          yield* simulate({ username: "shop", password, challenge_code: "734912", two_factor_code: "918273" })
          const { id } = (yield* post("/accounts", { name: "Shop", platform: "platform_b" })).body.data
          const login = (more: object) => post(`/accounts/${id}/connect`, { username: "shop", password, ...more })
          const answer = (code: string) => post(`/accounts/${id}/pb/challenge`, { username: "shop", password, code })

          const refused = yield* login({ password: wrong })
          deepStrictEqual([refused.status, Object.keys(refused.body.errors)], [401, ["password"]])
          const unknown = yield* login({ username: "nobody.here" })
          deepStrictEqual([unknown.status, Object.keys(unknown.body.errors)], [422, ["username"]])
          assert.strictEqual((yield* login({})).body.data.status, "challenge_required")
          const wrongCode = yield* answer("606060")
          deepStrictEqual([wrongCode.status, Object.keys(wrongCode.body.errors)], [422, ["code"]])
          assert.strictEqual((yield* answer("734912")).body.data.status, "two_factor_required")
          const wrongFactor = yield* login({ verification_code: "505050" })
          deepStrictEqual([wrongFactor.status, Object.keys(wrongFactor.body.errors)], [422, ["verification_code"]])
          assert.strictEqual((yield* login({ verification_code: "918273" })).body.data.status, "connected")

          const elsewhere = yield* call("POST", `${world.platformB.url}/_control/sessions`, {
            body: { username: "shop" }
          })
          const session: string = elsewhere.body.sessionid
          yield* post(`/accounts/${id}/logout`, {})
          const none = yield* post(`/accounts/${id}/connect`, { session: "1700:no-session-at-all" })
          deepStrictEqual([none.status, Object.keys(none.body.errors)], [422, ["session"]])
          const imported = (yield* post(`/accounts/${id}/connect`, { session })).body.data
          deepStrictEqual([imported.status, imported.username], ["connected", "shop"])

          const secrets = [
            session.slice(-36),
            "no-session-at-all",
            password,
            wrong,
            "734912",
            "918273",
            "606060",
            "505050",
            "IGT:2"
          ]
          deepStrictEqual(yield* placesOf(world.databaseUrl, secrets), [])
          assert.isNotEmpty(yield* placesOf(world.databaseUrl, ["Shop"]))
          const output = program.output()
          for (const secret of secrets) assert.notInclude(output, secret)
        })
      ),
    240_000
  )

  it.live(
    "disconnect keeps the session, logout destroys it, a token is rotated, pacing has defaults, and removal leaves nothing",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const world = yield* makeWorld
          const { url } = yield* Gatehouse.serve(world.env)
          const channel = yield* makeChannel(world, url)
          const { id, token } = channel
          const ask = (method: string, path: string, body?: unknown) =>
            call(method, `${url}/v1/accounts/${id}${path}`, { token, body })

          assert.strictEqual((yield* ask("POST", "/disconnect")).body.data.status, "disconnected")
          assert.strictEqual((yield* ask("POST", "/connect", {})).body.data.status, "connected")
          const half = yield* ask("POST", "/connect", { username: "shop" })
          deepStrictEqual([half.status, Object.keys(half.body.errors)], [422, ["password"]])
          yield* write(world, "carla", "shop", "still there?")
          yield* eventually(
            Effect.sync(() => world.receiver.ledger.find(({ event }) => event === "message.received")),
            "a message by the session that was kept"
          )
          assert.strictEqual((yield* ask("POST", "/logout")).body.data.status, "disconnected")
          assert.strictEqual((yield* ask("POST", "/connect", {})).status, 409)
          const names = world.receiver.ledger
            .map(({ event }) => event)
            .filter((event) => event.startsWith("connection."))
          deepStrictEqual(names.slice(0, 3), [
            "connection.connected",
            "connection.disconnected",
            "connection.connected"
          ])

          const rotated = yield* ask("POST", "/rotate-token")
          assert.strictEqual(rotated.headers.get("cache-control"), "no-store")
          const text = { to: "pbuser:carla", body: "Hi" }
          const send = (with_: string) => call("POST", `${url}/v1/messages/text`, { token: with_, body: text })
          assert.strictEqual((yield* send(channel.channelToken)).status, 401)
          assert.strictEqual((yield* send(rotated.body.data.token)).status, 409)

          const other = yield* call("POST", `${url}/v1/accounts`, { token, body: { name: "Other" } })
          const pacing = (path: string) => call("GET", `${url}/v1/accounts/${path}/pacing`, { token })
          deepStrictEqual((yield* pacing(other.body.data.id)).body.data, {
            gap_seconds: [1, 3],
            per_minute: 20,
            per_hour: 300,
            per_day: 2000,
            new_chats_per_day: 30
          })
          const bad = yield* ask("PUT", "/pacing", { gap_seconds: [5, 2], per_minute: 0, per_hour: null })
          assert.strictEqual(bad.status, 422)
          assert.includeMembers(Object.keys(bad.body.errors), ["per_minute", "per_day"])

          deepStrictEqual((yield* ask("DELETE", "")).body.data, { uuid: id, deleted: true })
          assert.strictEqual((yield* ask("GET", "")).status, 404)
          const left = yield* query(
            world.databaseUrl,
            `SELECT (SELECT count(*) FROM messages) + (SELECT count(*) FROM chats) + (SELECT count(*) FROM ai_logs)
               + (SELECT count(*) FROM webhook_endpoints)
               + (SELECT count(*) FROM webhook_deliveries WHERE due_at IS NOT NULL) AS rows`
          )
          deepStrictEqual(
            left.map(({ rows }) => Number(rows)),
            [0]
          )
        })
      ),
    240_000
  )
})
