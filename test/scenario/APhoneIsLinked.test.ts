import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect } from "effect"
import * as Gatehouse from "../support/Gatehouse.ts"
import { eventsOf, makeAccount, makePhones, told } from "../support/LinkedAccount.ts"

/** The built program as it is where only its required packages were installed. */
const bundleWithoutPackage = Effect.acquireRelease(
  Effect.sync(() => {
    const directory = mkdtempSync(join(tmpdir(), "gatehouse-"))
    cpSync("dist", directory, { recursive: true })
    mkdirSync(join(directory, "node_modules"))
    symlinkSync(resolve("node_modules/@node-rs"), join(directory, "node_modules/@node-rs"))
    return join(directory, "gatehouse.mjs")
  }),
  (bundle) => Effect.sync(() => rmSync(dirname(bundle), { recursive: true }))
)

const phone = "491700000001"
const ann = "491700000002"
const annsChat = `${ann}@s.whatsapp.net`

describe("a phone is linked", () => {
  it.live(
    "by its QR code, and messages go both ways with their receipts, across a kill -9 without a new login",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const phones = yield* makePhones
          const program = yield* Gatehouse.serve(phones.env)
          const account = yield* makeAccount(phones, program.url, { ordered: true })

          const connecting = yield* account.at("POST", "/connect", {})
          assert.strictEqual(connecting.status, 200)
          assert.strictEqual(connecting.body.data.status, "qr_required")
          assert.include(connecting.body.data.qr, "#")
          const picture = yield* account.at("GET", "/qr", undefined, { accept: "image/png" })
          assert.strictEqual(picture.headers.get("content-type"), "image/png")
          const shown = yield* told(phones, "connection.qr")
          assert.strictEqual(shown["qr"], connecting.body.data.qr)
          const json = yield* account.at("GET", "/qr")
          assert.strictEqual(json.body.data.qr, connecting.body.data.qr)

          yield* phones.control("/scan", { qr: connecting.body.data.qr, phone })
          yield* account.becomes("connected")
          yield* told(phones, "connection.connected")
          assert.strictEqual((yield* account.at("GET", "/qr")).status, 409)
          assert.strictEqual((yield* account.at("GET")).body.data.username, phone)

          yield* phones.control("/people", { phone: ann, name: "Ann" })
          yield* phones.control("/messages", { from: ann, account: phone, text: "Are you open?", times: 2 })
          const received = yield* told(phones, "message.received")
          assert.strictEqual(received["body"], "Are you open?")
          assert.strictEqual(received["chat_id"], annsChat)
          assert.strictEqual(received["from"], annsChat)

          const sent = yield* account.send(ann, "Until six.")
          assert.strictEqual(sent.status, 200)
          assert.strictEqual(sent.body.data.status, "sent")
          assert.strictEqual(sent.body.data.chat_id, annsChat)
          const id: string = sent.body.data.platform_a_message_id
          deepStrictEqual(
            (yield* phones.control("/sent")).body.map((one: { text: string }) => one.text),
            ["Until six."]
          )
          yield* phones.control("/receipts", { id, type: "read" })
          yield* told(phones, "message.read")
          yield* phones.control("/receipts", { id, type: "delivered" })

          yield* Gatehouse.kill9(program)
          yield* phones.control("/messages", { from: ann, account: phone, text: "And tomorrow?" })
          const again = yield* Gatehouse.serve(phones.env)
          const later = yield* makeAccount(phones, again.url)
          yield* told(phones, "message.received", ({ body }) => body === "And tomorrow?")
          assert.isAbove(later.id.length, 0)
          deepStrictEqual(eventsOf(phones, /^message\./), [
            "message.received",
            "message.sent",
            "message.delivered",
            "message.read",
            "message.received"
          ])
          assert.notMatch(program.output() + again.output(), /privKey|SessionEntry|Until six|Are you open/)
        })
      ),
    240_000
  )

  it.live(
    "only where the optional package is installed: without it everything else runs, and says what is missing",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const phones = yield* makePhones
          const program = yield* Gatehouse.serve(phones.env, yield* bundleWithoutPackage)
          const account = yield* makeAccount(phones, program.url)
          const connecting = yield* account.at("POST", "/connect", {})
          assert.strictEqual(connecting.status, 503)
          assert.include(connecting.body.message, "baileys")
          const error = yield* told(phones, "connection.error")
          assert.strictEqual(error["reason"], "driver_missing")
          assert.strictEqual(yield* account.status, "error")
          assert.include(program.output(), "npm install baileys@7.0.0-rc14")
        })
      ),
    240_000
  )
})
