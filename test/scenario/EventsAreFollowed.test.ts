import { connect } from "node:net"
import { assert, layer } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Context, Effect, Layer, Queue } from "effect"
import { createParser, type EventSourceMessage } from "eventsource-parser"
import { call } from "../support/Api.ts"
import * as Gatehouse from "../support/Gatehouse.ts"
import { operatorToken } from "../support/Story.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import * as WebhookReceiver from "../support/WebhookReceiver.ts"

class Programs extends Context.Tag("test/Programs")<
  Programs,
  { readonly one: Gatehouse.Gatehouse; readonly other: Gatehouse.Gatehouse }
>() {}

const programs = Layer.scoped(
  Programs,
  Effect.gen(function* () {
    const DATABASE_URL = yield* TestDatabase.url
    const one = yield* Gatehouse.serve({ DATABASE_URL })
    const other = yield* Gatehouse.serve({ DATABASE_URL })
    return { one, other }
  })
).pipe(Layer.orDie)

/** Reads a stream as a browser does; `take` waits for the next event, `ended` for its end. */
const listen = (url: string, token: string, lastEventId?: string) =>
  Effect.gen(function* () {
    const events = yield* Queue.unbounded<EventSourceMessage>()
    const controller = yield* Effect.acquireRelease(
      Effect.sync(() => new AbortController()),
      (aborting) => Effect.sync(() => aborting.abort())
    )
    const headers = {
      authorization: `Bearer ${token}`,
      ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId })
    }
    const answer = yield* Effect.promise(() => fetch(url, { headers, signal: controller.signal }))
    const parser = createParser({ onEvent: (event) => events.unsafeOffer(event) })
    const reading = async () => {
      const decoder = new TextDecoder()
      for await (const chunk of answer.body ?? []) parser.feed(decoder.decode(chunk, { stream: true }))
    }
    const ended = reading().then(
      () => "ended",
      () => "broken"
    )
    return { answer, take: Queue.take(events), ended: Effect.promise(() => ended), size: Queue.size(events) }
  })

/** Tells something again and again until all streams have begun, and takes it from them; the answer is the last of it. */
const begun = Effect.fn("begun")(function* (
  receiver: WebhookReceiver.WebhookReceiver,
  tell: Effect.Effect<unknown>,
  ...streams: ReadonlyArray<Effect.Effect.Success<ReturnType<typeof listen>>>
) {
  const told = Effect.zipRight(tell, receiver.take).pipe(
    Effect.map(({ headers }) => String(headers["x-webhook-event-id"]))
  )
  const haveBegun = Effect.map(Effect.all(streams.map(({ size }) => size)), (sizes) => sizes.every((size) => size > 0))
  const last = yield* Effect.zipLeft(told, Effect.sleep("20 millis")).pipe(Effect.repeat({ until: () => haveBegun }))
  yield* Effect.forEach(streams, ({ take }) => Effect.repeat(take, { until: ({ id }) => id === last }))
  return last
})

const newAccount = Effect.fn(function* (url: string, token: string, hook: string) {
  const account = yield* call("POST", `${url}/v1/accounts`, { token, body: { name: "Shop", platform: "platform_b" } })
  const { id, token: own }: { readonly id: string; readonly token: string } = account.body.data
  const webhook = yield* call("POST", `${url}/v1/accounts/${id}/webhooks`, { token, body: { url: hook } })
  const tell = Effect.map(call("POST", `${url}/v1/webhooks/${webhook.body.data.id}/test`, { token }), ({ status }) =>
    assert.strictEqual(status, 201)
  )
  return { id, own, tell, stream: `${url}/v1/accounts/${id}/events/stream` }
})

layer(programs, { excludeTestServices: true })("a stream of events", (it) => {
  it.scoped("carries what webhooks get, of one account to its token, of all to an operator, from any process", () =>
    Effect.gen(function* () {
      const { one, other } = yield* Programs
      const token = yield* operatorToken(one.url)
      const receiver = yield* WebhookReceiver.make()
      const shop = yield* newAccount(one.url, token, receiver.url)
      const bar = yield* newAccount(one.url, token, receiver.url)
      const own = yield* listen(shop.stream, shop.own)
      const all = yield* listen(`${one.url}/v1/events/stream`, token)
      const elsewhere = yield* listen(shop.stream.replace(one.url, other.url), shop.own)
      assert.match(String(own.answer.headers.get("content-type")), /^text\/event-stream/)
      assert.strictEqual(own.answer.headers.get("cache-control"), "no-store")
      yield* begun(receiver, shop.tell, own, all, elsewhere)
      yield* bar.tell
      yield* shop.tell
      const event = yield* own.take
      const bodies = new Map(
        (yield* receiver.takeN(2)).map(({ headers, rawBody }) => [headers["x-webhook-event-id"], rawBody])
      )
      deepStrictEqual([event.event, event.data], ["webhook.test", bodies.get(event.id) ?? ""])
      deepStrictEqual(yield* elsewhere.take, event)
      const [, second] = [yield* all.take, yield* all.take]
      deepStrictEqual(second, event)
      assert.strictEqual(yield* own.size, 0)
    })
  )

  it.scoped("goes on after Last-Event-ID", () =>
    Effect.gen(function* () {
      const { one, other } = yield* Programs
      const token = yield* operatorToken(one.url)
      const receiver = yield* WebhookReceiver.make()
      const shop = yield* newAccount(one.url, token, receiver.url)
      const first = yield* Effect.scoped(
        Effect.gen(function* () {
          return yield* begun(receiver, shop.tell, yield* listen(shop.stream, shop.own))
        })
      )
      yield* shop.tell
      yield* shop.tell
      const resumed = yield* listen(shop.stream.replace(one.url, other.url), shop.own, first)
      const missed = [yield* resumed.take, yield* resumed.take]
      yield* shop.tell
      const next = yield* resumed.take
      assert.strictEqual(new Set([first, ...[...missed, next].map(({ id }) => id)]).size, 4)
      const wrong = yield* listen(shop.stream, shop.own, "nonsense")
      assert.strictEqual(wrong.answer.status, 422)
    })
  )

  it.scoped("is open to its own credential alone", () =>
    Effect.gen(function* () {
      const { one } = yield* Programs
      const token = yield* operatorToken(one.url)
      const shop = yield* newAccount(one.url, token, "http://127.0.0.1:9/")
      const bar = yield* newAccount(one.url, token, "http://127.0.0.1:9/")
      const statuses = [
        yield* listen(shop.stream, bar.own),
        yield* listen(shop.stream, token),
        yield* listen(`${one.url}/v1/events/stream`, shop.own),
        yield* listen(`${one.url}/v1/events/stream`, "nonsense")
      ].map(({ answer }) => answer.status)
      deepStrictEqual(statuses, [404, 401, 401, 401])
      const asked = Effect.map(listen(shop.stream, shop.own), ({ answer }) => answer)
      const answers = yield* Effect.replicateEffect(asked, 21, { concurrency: 21 })
      const refused = answers.filter(({ status }) => status === 429)
      deepStrictEqual(
        refused.map(({ headers }) => headers.get("retry-after")),
        ["15"]
      )
      assert.strictEqual((yield* listen(bar.stream, bar.own)).answer.status, 200)
    })
  )
})

layer(Layer.empty, { excludeTestServices: true })("a program with readers of its streams", (it) => {
  it.scoped("ends them when it stops, at once, and bears one that takes nothing", () =>
    Effect.gen(function* () {
      const DATABASE_URL = yield* TestDatabase.url
      const program = yield* Gatehouse.serve({ DATABASE_URL })
      const token = yield* operatorToken(program.url)
      const receiver = yield* WebhookReceiver.make()
      const shop = yield* newAccount(program.url, token, receiver.url)
      const live = yield* listen(shop.stream, shop.own)
      yield* begun(receiver, shop.tell, live)
      const { hostname, port } = new URL(program.url)
      const deaf = yield* Effect.acquireRelease(
        Effect.sync(() => connect({ host: hostname, port: Number(port) }).pause()),
        (socket) => Effect.sync(() => socket.destroy())
      )
      deaf.write(`GET /v1/events/stream HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n\r\n`)
      yield* Effect.sleep("300 millis")
      yield* shop.tell
      assert.strictEqual((yield* live.take).event, "webhook.test")
      const before = Date.now()
      program.process.kill("SIGTERM")
      assert.strictEqual(yield* live.ended, "ended")
      assert.strictEqual(yield* program.exit, 0)
      assert.isBelow(Date.now() - before, 25_000)
    })
  )
})
