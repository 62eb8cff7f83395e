import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import { placesOf } from "../support/DatabaseWords.ts"
import * as Gatehouse from "../support/Gatehouse.ts"
import { linkByQr, makeAccount, makePhones, told } from "../support/LinkedAccount.ts"
import { eventually } from "../support/Story.ts"

const shop = "491700000001"
const ann = "491700000002"
const ben = "491700000003"
const at = (phone: string) => `${phone}@s.whatsapp.net`

describe("a linked phone is used", () => {
  it.live(
    "what people do on the platform is told, under one name for each of them, and endings say why",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const phones = yield* makePhones
          const program = yield* Gatehouse.serve({ ...phones.env, LOG_LEVEL: "debug" })
          const { url } = program
          const account = yield* makeAccount(phones, url)
          yield* linkByQr(phones, account, shop)

          const first = yield* phones.control("/messages", { from: ann, account: shop, text: "Oops" })
          yield* told(phones, "message.received", ({ body }) => body === "Oops")
          yield* phones.control("/deletions", { id: first.body.id })
          const deleted = yield* told(phones, "message.deleted")
          assert.strictEqual(deleted["platform_a_message_id"], first.body.id)
          assert.strictEqual(deleted["status"], "deleted")

          yield* phones.control("/messages", { from: ann, account: shop, text: "by alias", named_by: "alias" })
          yield* phones.control("/messages", { from: ann, account: shop, text: "alias alone", named_by: "alias_only" })
          const alone = yield* told(phones, "message.received", ({ body }) => body === "alias alone")
          assert.strictEqual(alone["chat_id"], at(ann))
          const chats = yield* account.at("GET", "/chats")
          deepStrictEqual(
            chats.body.data.map((chat: { chat_id: string }) => chat.chat_id),
            [at(ann)]
          )

          for (const text of ["with new keys", "and again"]) {
            yield* phones.control("/rekey", { phone: shop })
            yield* phones.control("/messages", { from: ann, account: shop, text })
            yield* told(phones, "message.received", ({ body }) => body === text)
          }

          yield* phones.control("/phone-messages", { account: shop, to: ann, text: "typed by hand" })
          const typed = yield* told(phones, "message.sent", ({ body }) => body === "typed by hand")
          assert.strictEqual(typed["source"], "manual")
          assert.strictEqual(typed["direction"], "outgoing")
          assert.strictEqual(typed["chat_id"], at(ann))

          yield* account.operator("PUT", "/v1/ai/global", { enabled: true, echo_mode: true, reply_delay_seconds: 0 })
          yield* phones.control("/messages", { from: ben, account: shop, text: "echo this" })
          yield* told(phones, "ai.reply.sent")
          deepStrictEqual(
            phones.receiver.ledger.map(({ event }) => event).filter((event) => event.startsWith("ai.")),
            ["ai.reply.generated", "ai.reply.sent"]
          )
          deepStrictEqual((yield* phones.control("/typing")).body, [
            { account: shop, chat: at(ben), state: "composing" }
          ])
          yield* account.operator("PUT", "/v1/ai/global", { enabled: false })

          const group = yield* phones.control("/groups", { subject: "Team", members: [shop, ann] })
          const id: string = group.body.id
          yield* phones.control("/groups/changes", { group: id, change: "add", members: [ben], by: ann })
          const added = yield* told(phones, "group.participant_added")
          deepStrictEqual(added, { chat_id: id, participants: [at(ben)], by: at(ann) })
          yield* phones.control("/messages", { from: ben, account: shop, group: id, text: "hi all" })
          const inGroup = yield* told(phones, "message.received", ({ body }) => body === "hi all")
          assert.strictEqual(inGroup["chat_type"], "group")
          assert.strictEqual(inGroup["from"], at(ben))
          assert.strictEqual((yield* account.send(id, "welcome")).body.data.status, "sent")
          yield* eventually(
            Effect.map(phones.control("/sent"), ({ body }) =>
              body.find((one: { text: string; chat: string }) => one.text === "welcome" && one.chat === id)
            ),
            "a message to the group"
          )
          yield* phones.control("/groups/changes", { group: id, change: "remove", members: [ben], by: ann })
          yield* told(phones, "group.participant_removed")

          const stranger = yield* account.send("15550000000", "hello?")
          assert.strictEqual(stranger.status, 422)
          assert.isArray(stranger.body.errors.to)
          assert.strictEqual((yield* account.send("not an address", "x")).status, 422)
          yield* phones.control("/refusals", { error: "479" })
          assert.strictEqual((yield* account.send(ann, "refused")).status, 409)

          yield* phones.control("/connections/end", { account: shop })
          yield* told(phones, "connection.disconnected")
          yield* account.becomes("connected")
          yield* phones.control("/messages", { from: ann, account: shop, text: "after the break" })
          yield* told(phones, "message.received", ({ body }) => body === "after the break")

          yield* account.at("POST", "/disconnect")
          yield* account.becomes("disconnected")
          const back = yield* account.at("POST", "/connect", {})
          assert.notStrictEqual(back.body.data.status, "qr_required")
          yield* account.becomes("connected")

          for (const [reason, word] of [
            ["403", "banned"],
            ["405", "app_version_rejected"]
          ] as const) {
            phones.receiver.ledger.length = 0
            yield* phones.control("/failures", { reason })
            yield* phones.control("/connections/end", { account: shop })
            const error = yield* told(phones, "connection.error")
            assert.strictEqual(error["reason"], word)
            assert.strictEqual(yield* account.status, "error")
            deepStrictEqual((yield* phones.control("/connections")).body, [])
            yield* account.at("POST", "/connect", {})
            yield* account.becomes("connected")
          }
          const devices = Effect.map(phones.control("/devices"), ({ body }) => body.length)
          yield* phones.control("/failures", { reason: "503" })
          assert.strictEqual((yield* account.at("POST", "/logout")).body.data.status, "disconnected")
          assert.strictEqual(yield* devices, 1)
          const pairing = (yield* account.at("POST", "/connect", { phone_number: `+${shop}` })).body.data
          assert.strictEqual(pairing.status, "qr_required")
          assert.match(pairing.pairing_code, /^[0-9A-Z]{8}$/)
          assert.isString(pairing.pairing_code_expires_at)
          assert.strictEqual((yield* account.at("GET", "/qr")).body.data.pairing_code, pairing.pairing_code)
          yield* phones.control("/pairing-code", { code: pairing.pairing_code })
          yield* account.becomes("connected")
          yield* phones.control("/messages", { from: ann, account: shop, text: "after the code" })
          yield* told(phones, "message.received", ({ body }) => body === "after the code")
          assert.strictEqual(yield* devices, 2)
          const secrets = [pairing.pairing_code, "privKey", "rootKey", "SessionEntry", "noiseKey", "advSecretKey"]
          deepStrictEqual(yield* placesOf(phones.env.DATABASE_URL, secrets), [])
          for (const secret of secrets) assert.notInclude(program.output(), secret)
          assert.strictEqual((yield* account.at("POST", "/logout")).body.data.status, "disconnected")
          assert.strictEqual(yield* devices, 1)
          yield* linkByQr(phones, account, shop)

          phones.receiver.ledger.length = 0
          yield* phones.control("/connections/end", { account: shop, code: 401 })
          const over = yield* told(phones, "connection.error")
          deepStrictEqual(over, {
            account_id: account.id,
            platform: "platform_a",
            status: "error",
            reason: "logged_out"
          })
          assert.strictEqual((yield* account.at("POST", "/connect", {})).body.data.status, "qr_required")
          yield* account.at("POST", "/logout")
          assert.strictEqual(yield* account.status, "disconnected")
        })
      ),
    240_000
  )
})
