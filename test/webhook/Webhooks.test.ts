import { createHmac } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Effect, Option, Redacted } from "effect"
import { Webhook as StandardWebhook } from "standardwebhooks"
import { Webhook as SvixWebhook } from "svix"
import { verify } from "../../src/webhook/domain/Signature.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import { until } from "../support/Until.ts"
import * as WebhookReceiver from "../support/WebhookReceiver.ts"
import { engine, history, newOwner, publish, register } from "./Engine.ts"

const text = (value: string | Array<string> | undefined) => String(value)

layer(TestDatabase.layer, { excludeTestServices: true })("the webhook engine", (it) => {
  it.scoped("delivers an event once, signed in both ways", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make()
      const owner = yield* newOwner()
      const { endpoint, secret } = yield* register(owner, receiver.url)
      const eventId = yield* publish(owner, "message.received", { body: "héllo ✓" })

      const { headers, method, rawBody } = yield* receiver.take
      assert.strictEqual(method, "POST")
      assert.match(
        rawBody,
        new RegExp(
          `^{"event":"message.received","account_id":"${owner.id}","timestamp":"[^"]+Z","data":{"body":"héllo ✓"}}$`
        )
      )
      assert.strictEqual(headers["content-type"], "application/json")
      assert.strictEqual(headers["user-agent"], "Gatehouse-Webhook/1.0")
      assert.strictEqual(headers["x-webhook-event"], "message.received")
      assert.strictEqual(headers["x-webhook-event-id"], eventId)
      assert.match(text(headers["x-webhook-timestamp"]), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.isUndefined(headers["accept-encoding"])
      assert.isTrue(verify(secret, rawBody, text(headers["x-webhook-signature"])))
      const trio = {
        "webhook-id": text(headers["webhook-id"]),
        "webhook-timestamp": text(headers["webhook-timestamp"]),
        "webhook-signature": text(headers["webhook-signature"])
      }
      const key = Redacted.value(secret)
      for (const verifier of [new StandardWebhook(key), new SvixWebhook(key)]) {
        verifier.verify(rawBody, trio)
        assert.throws(() => verifier.verify(`${rawBody} `, trio))
      }
      const recipe = createHmac("sha256", key).update(Buffer.from(rawBody)).digest("hex")
      assert.strictEqual(headers["x-webhook-signature"], `sha256=${recipe}`)

      const [delivery] = yield* until(history(owner), ([first]) => first?.state === "succeeded")
      assert.strictEqual(delivery?.endpointId, endpoint.id)
      assert.strictEqual(delivery?.attemptCount, 1)
      deepStrictEqual(delivery?.dueAt, Option.none())
      deepStrictEqual(
        delivery?.attempts.map(({ code, id, number }) => ({ code, id, number })),
        [{ code: 200, id: text(headers["x-webhook-delivery-id"]), number: 1 }]
      )
      assert.deepInclude(delivery?.payload, { event: "message.received", data: { body: "héllo ✓" } })
      assert.strictEqual(receiver.ledger.length, 1)
    }).pipe(Effect.provide(engine()))
  )

  it.scoped("keeps what each receiver answered, character by character", () =>
    Effect.gen(function* () {
      const bodies = ["", "plain", 'a,b,{c},"d"\\', "=", "-", "NULL", "é✓😀", "line\nline\t", "{}"]
      const receiver = yield* WebhookReceiver.make()
      receiver.script(...bodies.map((body) => ({ status: 200, body })))
      const owner = yield* newOwner()
      yield* register(owner, receiver.url)
      for (const _ of bodies) {
        yield* publish(owner)
        yield* receiver.take
      }
      const rows = yield* until(history(owner), (all) => all.every(({ state }) => state === "succeeded"))
      const answers = rows.map(({ attempts }) => attempts[0]?.responseBody).toReversed()
      deepStrictEqual(answers, bodies)
      deepStrictEqual(new Set(rows.map(({ attempts }) => attempts[0]?.error)), new Set([null]))

      const refused = yield* newOwner()
      yield* register(refused, "http://127.0.0.1:9/hook", { retryCount: 0 })
      yield* publish(refused)
      const [failed] = yield* until(history(refused), ([first]) => first?.state === "exhausted")
      deepStrictEqual([failed?.attempts[0]?.responseBody, failed?.attempts[0]?.code], [null, 0])
      assert.isString(failed?.attempts[0]?.error)
    }).pipe(Effect.provide(engine()))
  )
})
