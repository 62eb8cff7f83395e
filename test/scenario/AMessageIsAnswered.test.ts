import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect, Redacted } from "effect"
import { verify } from "../../src/webhook/domain/Signature.ts"
import { call } from "../support/Api.ts"
import * as Gatehouse from "../support/Gatehouse.ts"
import { chatOf, eventually, makeChannel, makeWorld, write } from "../support/Story.ts"

describe("a message is answered", () => {
  it.live(
    "in the specification's order, signed, after a restart without a new login, and only where the rules say yes",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const world = yield* makeWorld
          const program = yield* Gatehouse.serve(world.env)
          const { url } = program
          const channel = yield* makeChannel(world, url, "shop", { ordered: true })
          assert.strictEqual(channel.connected.body.data.status, "connected")

          yield* write(world, "carla", "shop", "Are you open on Sunday?")
          yield* eventually(
            Effect.sync(() => world.receiver.ledger.find(({ event }) => event === "ai.reply.sent")),
            "ai.reply.sent"
          )
          const order = world.receiver.ledger.map(({ event }) => event).filter((event) => /^(message|ai)\./.test(event))
          deepStrictEqual(order, ["message.received", "ai.reply.generated", "message.sent", "ai.reply.sent"])
          for (const { body, headers } of world.receiver.ledger) {
            assert.isTrue(verify(Redacted.make(channel.secret), body, String(headers["x-webhook-signature"])))
          }
          const talk = yield* chatOf(world, "carla")
          deepStrictEqual(
            talk.map(({ from }) => from),
            ["carla", "shop"]
          )
          assert.include(talk[1]?.text, "Are you open on Sunday?")

          const logs = yield* call("GET", `${url}/v1/ai/logs?account_id=${channel.id}`, { token: channel.token })
          assert.strictEqual(logs.body.data[0].status, "sent")
          assert.isAbove(logs.body.data[0].prompt_tokens, 0)

          yield* call("POST", `${world.provider.url}/_control/answers`, {
            body: { status: 401, body: { error: { message: "bad key" } } }
          })
          yield* write(world, "dora", "shop", "Hello?")
          const failed = yield* eventually(
            Effect.sync(() => world.receiver.ledger.find(({ event }) => event === "ai.reply.failed")),
            "ai.reply.failed"
          )
          assert.include(String(failed.data.data["reason"]), "auth")
          deepStrictEqual(
            (yield* chatOf(world, "dora")).map(({ from }) => from),
            ["dora"]
          )

          const text = yield* call("POST", `${url}/v1/messages/text`, {
            token: channel.channelToken,
            body: { to: "pbuser:dora", body: "A person will answer soon." }
          })
          assert.strictEqual(text.status, 200)
          assert.strictEqual(text.body.data.status, "sent")
          const nobody = yield* call("POST", `${url}/v1/messages/text`, {
            token: channel.channelToken,
            body: { to: "pbuser:nobody.here", body: "Hi" }
          })
          assert.strictEqual(nobody.status, 422)
          assert.property(nobody.body.errors, "to")

          yield* Gatehouse.kill9(program)
          const again = yield* Gatehouse.serve(world.env)
          yield* write(world, "emil", "shop", "Still there?")
          yield* eventually(
            Effect.map(chatOf(world, "emil"), (items) => items.find(({ from }) => from === "shop")),
            "a reply after the restart"
          )
          yield* call("PUT", `${again.url}/v1/ai/global`, { token: channel.token, body: { enabled: false } })
          yield* write(world, "emil", "shop", "And now?")
          const skipped = yield* eventually(
            Effect.map(
              call("GET", `${again.url}/v1/ai/logs?account_id=${channel.id}&status=skipped`, { token: channel.token }),
              ({ body }) => body.data[0]
            ),
            "a skipped reply"
          )
          assert.strictEqual(skipped.reason, "global disabled")

          const output = program.output() + again.output()
          for (const secret of ["s3cret-of-the-shop", "sk-secret-of-the-shop", channel.channelToken, "Still there?"]) {
            assert.notInclude(output, secret)
          }
        })
      ),
    240_000
  )

  it.live(
    "a wrong password and a wrong code are told as such, a second factor and a challenge lead in",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const world = yield* makeWorld
          const { url } = yield* Gatehouse.serve(world.env)
          const token = (yield* makeChannel(world, url)).token
          const account = Effect.map(
            call("POST", `${url}/v1/accounts`, { token, body: { name: "Other", platform: "platform_b" } }),
            ({ body }): string => body.data.id
          )
          const simulate = (body: object) => call("POST", `${world.platformB.url}/_control/accounts`, { body })
          yield* simulate({ username: "two", password: "pw-two", two_factor_code: "123456" })
          yield* simulate({ username: "three", password: "pw-three", challenge_code: "654321" })
          const connect = (id: string, body: object) =>
            call("POST", `${url}/v1/accounts/${id}/connect`, { token, body })

          const second = yield* account
          const wrong = yield* connect(second, { username: "two", password: "nope" })
          assert.strictEqual(wrong.status, 401)
          assert.property(wrong.body.errors, "password")
          const asked = yield* connect(second, { username: "two", password: "pw-two" })
          assert.strictEqual(asked.body.data.status, "two_factor_required")
          const bad = yield* connect(second, { username: "two", password: "pw-two", verification_code: "000000" })
          assert.strictEqual(bad.status, 422)
          const good = yield* connect(second, { username: "two", password: "pw-two", verification_code: "123456" })
          assert.strictEqual(good.body.data.status, "connected")

          const third = yield* account
          const challenged = yield* connect(third, { username: "three", password: "pw-three" })
          assert.strictEqual(challenged.body.data.status, "challenge_required")
          const answer = (code: string) =>
            call("POST", `${url}/v1/accounts/${third}/pb/challenge`, {
              token,
              body: { username: "three", password: "pw-three", code }
            })
          assert.strictEqual((yield* answer("000000")).status, 422)
          assert.strictEqual((yield* answer("654321")).body.data.status, "connected")
          assert.strictEqual((yield* answer("654321")).status, 409)
        })
      ),
    240_000
  )
})
