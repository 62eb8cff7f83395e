import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { call } from "../support/Api.ts"
import * as Gatehouse from "../support/Gatehouse.ts"
import { chatOf, eventually, makeChannel, makeWorld, type World, write } from "../support/Story.ts"

const patch = (world: World, username: string, body: object) =>
  call("PATCH", `${world.platformB.url}/_control/accounts/${username}`, { body })

/** Every event once and in order of publication, without those about AI replies. */
const told = (world: World) => {
  const seen = new Set<unknown>()
  return world.receiver.ledger.filter(({ event, headers }) => {
    const id = headers["x-webhook-event-id"]
    return !event.startsWith("ai.") && !seen.has(id) && seen.add(id)
  })
}

const account = (url: string, channel: { readonly id: string; readonly token: string }) =>
  Effect.map(call("GET", `${url}/v1/accounts/${channel.id}`, { token: channel.token }), ({ body }) => body.data)

const becomes = (url: string, channel: { readonly id: string; readonly token: string }, status: string) =>
  eventually(
    Effect.map(account(url, channel), (found) => (found.status === status ? found : undefined)),
    status
  )

const quiet = (url: string, token: string) => call("PUT", `${url}/v1/ai/global`, { token, body: { enabled: false } })

const connect = (url: string, channel: { readonly id: string; readonly token: string }, body?: object) =>
  call("POST", `${url}/v1/accounts/${channel.id}/connect`, {
    token: channel.token,
    body: body ?? { username: "shop", password: "s3cret-of-the-shop" }
  })

const say = (url: string, channel: { readonly channelToken: string }, to: string, body: string) =>
  call("POST", `${url}/v1/messages/text`, { token: channel.channelToken, body: { to, body } })

describe("a channel lives on platform_b", () => {
  it.live(
    "two people talk with it at once, over a restart, and each event is told once and in order",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const world = yield* makeWorld
          const program = yield* Gatehouse.serve(world.env)
          const channel = yield* makeChannel(world, program.url, "shop", { ordered: true })
          yield* quiet(program.url, channel.token)
          yield* write(world, "carla", "shop", "carla 1")
          yield* write(world, "dora", "shop", "dora 1")
          yield* eventually(
            Effect.sync(() =>
              told(world).filter(({ event }) => event === "message.received").length === 2 ? true : undefined
            ),
            "two messages"
          )
          for (const person of ["carla", "dora"]) {
            const answer = yield* say(program.url, channel, `pbuser:${person}`, `${person} 2`)
            deepStrictEqual([answer.status, answer.body.data.status], [200, "sent"])
          }
          yield* Gatehouse.kill9(program)
          yield* write(world, "carla", "shop", "carla 3")
          yield* write(world, "dora", "shop", "dora 3")
          const { url } = yield* Gatehouse.serve(world.env)
          yield* eventually(
            Effect.sync(() =>
              told(world).filter(({ event }) => /^message\.(received|sent)$/.test(event)).length === 6
                ? true
                : undefined
            ),
            "four messages and two answers"
          )
          const logins = yield* call("GET", `${world.platformB.url}/_control/requests`)
          const asked = logins.body.filter(({ path }: { path: string }) => path.includes("/accounts/login/"))
          assert.strictEqual(asked.length, 1)
          for (const person of ["carla", "dora"]) {
            deepStrictEqual(
              (yield* chatOf(world, person)).map(({ text }) => text),
              [`${person} 1`, `${person} 2`, `${person} 3`]
            )
            const ofChat = told(world).filter(({ data }) => String(data.data["body"] ?? "").startsWith(person))
            deepStrictEqual(
              ofChat.map(({ data, event }) => [event, data.data["body"]]),
              [
                ["message.received", `${person} 1`],
                ["message.sent", `${person} 2`],
                ["message.received", `${person} 3`]
              ]
            )
          }
          const chats = yield* call("GET", `${url}/v1/accounts/${channel.id}/chats`, { token: channel.token })
          deepStrictEqual(
            chats.body.data.map(({ name, unread_count }: { name: string; unread_count: number }) => [
              name,
              unread_count
            ]),
            [
              ["dora", 2],
              ["carla", 2]
            ]
          )
          const created = told(world).filter(({ event }) => event === "chat.created")
          assert.strictEqual(created.length, 2)
          const chat = encodeURIComponent(chats.body.data[0].chat_id)
          yield* call("PATCH", `${url}/v1/accounts/${channel.id}/chats/${chat}`, {
            token: channel.token,
            body: { name: "Dora", is_blocked: true }
          })
          const updated = yield* eventually(
            Effect.sync(() => told(world).find(({ event }) => event === "chat.updated")),
            "chat.updated"
          )
          assert.deepInclude(updated.data.data, { name: "Dora", is_blocked: true })
        })
      ),
    240_000
  )

  const ends = [
    ["banned", "error", "banned"],
    ["logged_out", "error", "logged_out"],
    ["outdated", "error", "app_version_rejected"],
    ["challenged", "challenge_required", "challenge_required"]
  ] as const

  it.live(
    "what ends the connection is told once, stops the polls, and a new login goes on where it was",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const world = yield* makeWorld
          const program = yield* Gatehouse.serve(world.env)
          const channel = yield* makeChannel(world, program.url)
          const { url } = program
          yield* quiet(url, channel.token)
          for (const [index, [condition, status, reason]] of ends.entries()) {
            yield* patch(world, "shop", { condition, challenge_code: "654321" })
            const found = yield* becomes(url, channel, status)
            assert.strictEqual(found.last_error, reason)
            const errors = yield* eventually(
              Effect.sync(() => {
                const all = told(world).filter(({ event }) => event === "connection.error")
                return all.length > index ? all : undefined
              }),
              "connection.error"
            )
            assert.strictEqual(errors.length, index + 1)
            assert.deepInclude(errors.at(-1)?.data.data, { status, reason, account_id: channel.id })
            assert.strictEqual((yield* say(url, channel, "pbuser:carla", "hello?")).status, 409)
            yield* call("DELETE", `${world.platformB.url}/_control/requests`)
            yield* Effect.sleep("2500 millis")
            deepStrictEqual((yield* call("GET", `${world.platformB.url}/_control/requests`)).body, [])
            if (condition === "challenged") break
            yield* patch(world, "shop", { condition: "well", challenge_code: null })
            assert.strictEqual((yield* connect(url, channel)).body.data.status, "connected")
          }
          yield* connect(url, channel)
          yield* Gatehouse.kill9(program)
          const again = yield* Gatehouse.serve(world.env)
          const answer = (code: string) =>
            call("POST", `${again.url}/v1/accounts/${channel.id}/pb/challenge`, {
              token: channel.token,
              body: { username: "shop", password: "s3cret-of-the-shop", code }
            })
          assert.strictEqual((yield* answer("111111")).status, 422)
          yield* write(world, "carla", "shop", "while you were away")
          assert.strictEqual((yield* answer("654321")).body.data.status, "connected")
          const received = yield* eventually(
            Effect.sync(() => told(world).find(({ event }) => event === "message.received")),
            "the message of before"
          )
          assert.strictEqual(received.data.data["body"], "while you were away")
        })
      ),
    240_000
  )

  it.live(
    "a rate limit and a block are seen on the account, keep messages queued, and a cap does so too",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const world = yield* makeWorld
          const { url } = yield* Gatehouse.serve(world.env)
          const channel = yield* makeChannel(world, url)
          const { token } = channel
          yield* quiet(url, token)
          for (const username of ["carla", "emil", "fred"]) {
            yield* call("POST", `${world.platformB.url}/_control/people`, { body: { username } })
          }
          yield* patch(world, "shop", { condition: "blocked" })
          const held = yield* say(url, channel, "pbuser:carla", "one")
          deepStrictEqual([held.status, held.body.data.status], [200, "queued"])
          const frozen = yield* account(url, channel)
          deepStrictEqual(
            [frozen.status, frozen.last_error, frozen.paused_until],
            ["connected", "action_blocked", null]
          )
          assert.strictEqual(held.body.data.not_before, frozen.frozen_until)

          yield* patch(world, "shop", { condition: "well" })
          yield* connect(url, channel)
          yield* eventually(
            Effect.map(chatOf(world, "carla"), (items) => (items.length === 1 ? items : undefined)),
            "what was queued, after a new login"
          )

          const pacing = { gap_seconds: [0, 0], per_minute: 2, per_hour: null, per_day: null, new_chats_per_day: 2 }
          assert.strictEqual(
            (yield* call("PUT", `${url}/v1/accounts/${channel.id}/pacing`, { token, body: pacing })).status,
            200
          )
          assert.strictEqual((yield* say(url, channel, "pbuser:carla", "two")).body.data.status, "sent")
          const over = yield* say(url, channel, "pbuser:carla", "three")
          assert.strictEqual(over.body.data.status, "queued")
          assert.isString(over.body.data.not_before)
          yield* call("PUT", `${url}/v1/accounts/${channel.id}/pacing`, {
            token,
            body: { ...pacing, per_minute: null }
          })
          yield* eventually(
            Effect.map(chatOf(world, "carla"), (items) => (items.length === 3 ? items : undefined)),
            "what the cap held"
          )
          assert.strictEqual((yield* say(url, channel, "pbuser:emil", "new 2")).body.data.status, "sent")
          const tooMany = yield* say(url, channel, "pbuser:fred", "new 3")
          assert.strictEqual(tooMany.body.data.status, "queued")
          yield* write(world, "gina", "shop", "hi")
          yield* eventually(
            Effect.sync(() => told(world).find(({ event }) => event === "message.received")),
            "a message of gina"
          )
          assert.strictEqual((yield* say(url, channel, "pbuser:gina", "hello gina")).body.data.status, "sent")

          yield* patch(world, "shop", { condition: "rate_limited" })
          const resting = yield* eventually(
            Effect.map(account(url, channel), (found) => (found.paused_until === null ? undefined : found)),
            "a rest"
          )
          deepStrictEqual([resting.status, resting.last_error], ["connected", "rate_limited"])
          assert.strictEqual((yield* say(url, channel, "pbuser:carla", "four")).body.data.status, "queued")
        })
      ),
    240_000
  )
})
