import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Array, Context, Effect, Layer, Redacted } from "effect"
import { Webhook as StandardWebhook } from "standardwebhooks"
import { verify } from "../../src/webhook/domain/Signature.ts"
import { call } from "../support/Api.ts"
import * as Gatehouse from "../support/Gatehouse.ts"
import { makeApp, operatorToken } from "../support/Story.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import * as WebhookReceiver from "../support/WebhookReceiver.ts"

class Program extends Context.Tag("test/Program")<Program, Gatehouse.Gatehouse>() {}

const program = Layer.scoped(
  Program,
  Effect.flatMap(TestDatabase.url, (url) => Gatehouse.serve({ DATABASE_URL: url }))
).pipe(Layer.orDie)

/** Both sides register webhooks in the same way, under paths and names of their own. */
interface Side {
  readonly list: string
  readonly one: string
  readonly idField: string
  readonly token: string
  readonly foreign: string
  readonly ownerField: string
  readonly owner: string
}

const sides = (url: string, hook: string) =>
  Effect.gen(function* () {
    const app = yield* makeApp(url, hook)
    const stranger = yield* makeApp(url, hook)
    const token = yield* operatorToken(url)
    const account = yield* call("POST", `${url}/v1/accounts`, { token, body: { name: "Shop", platform: "platform_b" } })
    const id: string = account.body.data.id
    const sides: ReadonlyArray<Side> = [
      {
        list: `${url}/api/v1/apps/${app.id}/webhooks`,
        one: `${url}/api/v1/webhooks`,
        idField: "uuid",
        token: app.token,
        foreign: stranger.token,
        ownerField: "app_id",
        owner: app.id
      },
      {
        list: `${url}/v1/accounts/${id}/webhooks`,
        one: `${url}/v1/webhooks`,
        idField: "id",
        token,
        foreign: account.body.data.token,
        ownerField: "account_id",
        owner: id
      }
    ]
    return sides
  })

const signatures = ({ headers }: WebhookReceiver.ReceivedRequest) => ({
  now: String(headers["x-webhook-signature"]),
  previous: headers["x-webhook-signature-previous"],
  standard: String(headers["webhook-signature"]).split(" ")
})

const standard = (request: WebhookReceiver.ReceivedRequest) => ({
  "webhook-id": String(request.headers["webhook-id"]),
  "webhook-timestamp": String(request.headers["webhook-timestamp"]),
  "webhook-signature": String(request.headers["webhook-signature"])
})

layer(program, { excludeTestServices: true })("a webhook, of an app and of an account,", (it) => {
  it.scoped("is registered, shown, changed, tested, rotated and removed", () =>
    Effect.gen(function* () {
      const { url } = yield* Program
      const receiver = yield* WebhookReceiver.make()
      const elsewhere = yield* WebhookReceiver.make()
      for (const side of yield* sides(url, "http://127.0.0.1:9/hook")) {
        const { foreign, idField, token } = side
        const made = yield* call("POST", side.list, { token, body: { url: receiver.url, retry_count: 0 } })
        assert.strictEqual(made.status, 201)
        const { secret, ...shown } = made.body.data
        const one = `${side.one}/${shown[idField]}`
        assert.deepInclude(shown, {
          url: receiver.url,
          events: ["*"],
          is_active: true,
          retry_count: 0,
          timeout_seconds: 10,
          max_per_second: null,
          ordered: false,
          disabled_reason: null,
          circuit: "closed",
          paused_until: null
        })
        deepStrictEqual((yield* call("GET", one, { token })).body.data, shown)
        deepStrictEqual((yield* call("GET", side.list, { token })).body.data[0], shown)
        assert.strictEqual((yield* call("GET", one, { token: foreign })).status, side.idField === "uuid" ? 404 : 401)

        const bad = yield* call("PATCH", one, {
          token,
          body: {
            url: "ftp://x",
            events: ["nothing"],
            retry_count: 6,
            timeout_seconds: 0,
            max_per_second: 0,
            ordered: 1,
            is_active: null
          }
        })
        assert.strictEqual(bad.status, 422)
        assert.includeMembers(Object.keys(bad.body.errors), [
          "events.0",
          "retry_count",
          "timeout_seconds",
          "max_per_second",
          "ordered",
          "is_active"
        ])
        deepStrictEqual(Object.keys((yield* call("PATCH", one, { token, body: { url: "ftp://x" } })).body.errors), [
          "url"
        ])
        deepStrictEqual((yield* call("GET", one, { token })).body.data, shown)

        const family = side.idField === "uuid" ? "subscription.*" : "message.*"
        const changes = { url: elsewhere.url, events: [family], timeout_seconds: 3, max_per_second: 50, ordered: true }
        deepStrictEqual((yield* call("PATCH", one, { token, body: changes })).body.data, { ...shown, ...changes })
        deepStrictEqual((yield* call("PATCH", one, { token, body: {} })).body.data, { ...shown, ...changes })

        const tested = yield* call("POST", `${one}/test`, { token })
        assert.strictEqual(tested.status, 201)
        assert.strictEqual(tested.body.data.event, "webhook.test")
        const first = yield* elsewhere.take
        const body = JSON.parse(first.rawBody)
        assert.deepInclude(body, { event: "webhook.test", [side.ownerField]: side.owner })
        assert.isTrue(verify(Redacted.make(secret), first.rawBody, signatures(first).now))
        assert.isUndefined(signatures(first).previous)
        assert.strictEqual(signatures(first).standard.length, 1)

        const rotated = yield* call("POST", `${one}/rotate-secret`, { token, body: { overlap_seconds: 60 } })
        assert.strictEqual(rotated.status, 200)
        const next: string = rotated.body.data.secret
        assert.notStrictEqual(next, secret)
        yield* call("POST", `${one}/test`, { token })
        const second = yield* elsewhere.take
        assert.isTrue(verify(Redacted.make(next), second.rawBody, signatures(second).now))
        assert.isTrue(verify(Redacted.make(secret), second.rawBody, String(signatures(second).previous)))
        for (const key of [secret, next]) new StandardWebhook(key).verify(second.rawBody, standard(second))

        const final = yield* call("POST", `${one}/rotate-secret`, { token, body: { overlap_seconds: 0 } })
        yield* call("POST", `${one}/test`, { token })
        const third = yield* elsewhere.take
        assert.isUndefined(signatures(third).previous)
        new StandardWebhook(final.body.data.secret).verify(third.rawBody, standard(third))
        assert.throws(() => new StandardWebhook(next).verify(third.rawBody, standard(third)))
        const wrong = yield* call("POST", `${one}/rotate-secret`, { token, body: { overlap_seconds: -1 } })
        deepStrictEqual(Object.keys(wrong.body.errors), ["overlap_seconds"])

        const lifted = yield* call("PATCH", one, { token, body: { max_per_second: null, ordered: false } })
        assert.deepInclude(lifted.body.data, { max_per_second: null, ordered: false })

        const range = { from: "2026-01-01T00:00:00.000Z", to: "2126-01-01T00:00:00.000Z" }
        const replayed = yield* call("POST", `${one}/replay`, { token, body: range })
        deepStrictEqual(replayed.body, { data: { replayed: 0, continue_from: null } })
        const backwards = yield* call("POST", `${one}/replay`, { token, body: { from: range.to, to: range.from } })
        deepStrictEqual(Object.keys(backwards.body.errors), ["to"])
        const foreignRange = { ...range, events: [side.idField === "uuid" ? "message.*" : "subscription.*"] }
        assert.strictEqual((yield* call("POST", `${one}/replay`, { token, body: foreignRange })).status, 422)

        yield* call("PATCH", one, { token, body: { is_active: false } })
        assert.strictEqual((yield* call("POST", `${one}/replay`, { token, body: range })).status, 409)
        assert.strictEqual((yield* call("POST", `${one}/test`, { token })).status, 409)
        yield* call("PATCH", one, { token, body: { is_active: true } })
        assert.strictEqual((yield* call("POST", `${one}/test`, { token })).status, 201)
        yield* elsewhere.take

        deepStrictEqual((yield* call("DELETE", one, { token })).body.data, { uuid: shown[idField], deleted: true })
        const gone = [
          yield* call("GET", one, { token }),
          yield* call("PATCH", one, { token, body: {} }),
          yield* call("DELETE", one, { token }),
          yield* call("POST", `${one}/test`, { token }),
          yield* call("POST", `${one}/rotate-secret`, { token, body: {} }),
          yield* call("POST", `${one}/replay`, { token, body: range }),
          yield* call("GET", `${side.one}/nonsense`, { token })
        ]
        deepStrictEqual(
          gone.map(({ status }) => status),
          Array.replicate(404, gone.length)
        )
      }
      assert.strictEqual(receiver.ledger.length, 0)
    })
  )
})
