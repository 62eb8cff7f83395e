import { createServer, type Socket } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Duration, Effect, Option } from "effect"
import { Attempt, type AttemptOutcome } from "../../src/webhook/Attempt.ts"
import { PlainSender } from "../../src/webhook/PlainSender.ts"
import { guardedConnector, type Lookup, type TargetPolicy } from "../../src/webhook/TargetGuard.ts"
import { freePort } from "../support/Gatehouse.ts"
import { drip, pour } from "../support/RawTarget.ts"
import { until } from "../support/Until.ts"
import * as WebhookReceiver from "../support/WebhookReceiver.ts"

const open = Attempt.layer({ allowPrivate: true })

const send = (url: string, timeout: Duration.DurationInput = "5 seconds", body = "{}") =>
  Effect.flatMap(Attempt, (attempt) =>
    Effect.async<AttemptOutcome>((resume) =>
      attempt.begin({ url, body, headers: {}, timeout: Duration.decode(timeout) }, (outcome) =>
        resume(Effect.succeed(outcome))
      )
    )
  )

/** For targets that let it pass; what is answered gets more, on a machine that does other things too. */
const brief = "300 millis"
const timeFor = ({ code, error }: Partial<AttemptOutcome>): Duration.DurationInput =>
  error !== "time-out" ? "5 seconds" : code === 0 ? brief : "1 second"
const soon = 8_000

/** A kept connection is free again after a turn of the event loop. */
const turn = Effect.async<void>((resume) => void setImmediate(() => setImmediate(() => resume(Effect.void))))

/** A server below HTTP: it gets the bare socket, and how many requests came on it before. */
const rawServer = (serve: (socket: Socket, nth: number) => void) =>
  Effect.acquireRelease(
    Effect.async<{
      readonly url: string
      readonly end: () => void
      readonly count: () => number
      readonly open: () => number
    }>((resume) => {
      const sockets = new Set<Socket>()
      let count = 0
      const server = createServer((socket) => {
        let nth = 0
        sockets.add(socket)
        socket.on("error", () => undefined)
        socket.on("close", () => sockets.delete(socket))
        socket.on("data", (data) => {
          if (!data.toString().startsWith("POST")) return
          count += 1
          serve(socket, nth++)
        })
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        const end = () => {
          sockets.forEach((socket) => socket.destroy())
          server.close()
        }
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}/`, end, count: () => count, open: () => sockets.size }))
      })
    }),
    ({ end }) => Effect.sync(end)
  )

describe("Attempt", () => {
  it.scopedLive("keeps the status, the first 2 KiB and Retry-After", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make()
      receiver.script({ status: 503, headers: { "retry-after": "7" }, body: "\0é".repeat(2000) })
      const outcome = yield* send(receiver.url)
      assert.deepInclude(outcome, { code: 503, error: null })
      deepStrictEqual(outcome.retryAfter, Option.some("7"))
      assert.match(outcome.responseBody ?? "", /^é{682}\uFFFD?$/)
    }).pipe(Effect.provide(open))
  )

  it.scopedLive("posts the body as it is, and asks for no compression", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make()
      yield* send(receiver.url, "5 seconds", '{"a": "héllo ✓"}')
      const [{ headers, rawBody } = assert.fail()] = receiver.ledger
      assert.strictEqual(rawBody, '{"a": "héllo ✓"}')
      assert.isUndefined(headers["accept-encoding"])
      assert.strictEqual(headers["content-length"], String(Buffer.byteLength(rawBody)))
    }).pipe(Effect.provide(open))
  )

  it.scopedLive.each([301, 302, 303, 307, 308])("does not follow a %i", (status) =>
    Effect.gen(function* () {
      const inside = yield* WebhookReceiver.make()
      const receiver = yield* WebhookReceiver.make({ status, headers: { location: inside.url } })
      assert.strictEqual((yield* send(receiver.url)).code, status)
      assert.strictEqual(inside.ledger.length, 0)
    }).pipe(Effect.provide(open))
  )

  it.scopedLive.each<readonly [string, (socket: Socket) => void, number]>([
    ["says nothing", () => undefined, 0],
    [
      "sends its headers bit by bit",
      (socket) => {
        socket.write("HTTP/1.1 200 OK\r\nx: ")
        drip(socket, "y")
      },
      0
    ],
    ["sends 103 without end", (socket) => drip(socket, "HTTP/1.1 103 Early Hints\r\n\r\n"), 0],
    [
      "sends its body bit by bit",
      (socket) => {
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n")
        drip(socket, "x")
      },
      200
    ]
  ])("ends in time when the target %s", ([, serve, code]) =>
    Effect.gen(function* () {
      const server = yield* rawServer(serve)
      const expected = { code, error: "time-out" }
      const outcome = yield* send(server.url, timeFor(expected))
      assert.deepInclude(outcome, expected)
      assert.isBelow(outcome.durationMs, soon)
    }).pipe(Effect.provide(open))
  )

  it.scopedLive("reads 64 KiB of a body without end, and keeps the status", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make((response) => {
        response.writeHead(200)
        const more = () => {
          while (!response.destroyed && response.write(Buffer.alloc(65_536, "x")));
        }
        response.on("drain", more)
        more()
      })
      const outcome = yield* send(receiver.url)
      assert.deepInclude(outcome, { code: 200, error: null, responseBody: "x".repeat(2048) })
    }).pipe(Effect.provide(open))
  )

  it.scopedLive.each<readonly [string, string, number]>([
    ["garbage", "SSH-2.0-OpenSSH_9.9\r\n", 0],
    ["an upgrade", "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n", 0],
    ["headers without measure", `HTTP/1.1 200 OK\r\nx: ${"y".repeat(70_000)}\r\n\r\n`, 0],
    ["a body that breaks off", "HTTP/1.1 204 OK\r\n\r\n", 204]
  ])("survives %s", ([, text, code]) =>
    Effect.gen(function* () {
      const server = yield* rawServer((socket) => socket.end(text))
      assert.strictEqual((yield* send(server.url)).code, code)
    }).pipe(Effect.provide(open))
  )

  it.scopedLive("counts a status whose body breaks off, and says so", () =>
    Effect.gen(function* () {
      const server = yield* rawServer((socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc"))
      const outcome = yield* send(server.url)
      assert.deepInclude(outcome, { code: 200, responseBody: "abc" })
      assert.isNotNull(outcome.error)
    }).pipe(Effect.provide(open))
  )

  it.scopedLive("has code 0 where nobody answers", () =>
    Effect.gen(function* () {
      const port = yield* freePort
      assert.deepInclude(yield* send(`http://127.0.0.1:${port}/`), {
        code: 0,
        error: "ECONNREFUSED",
        responseBody: null
      })
      assert.deepInclude(yield* send("http://nowhere.invalid/"), { code: 0, responseBody: null })
      assert.strictEqual((yield* send(`https://127.0.0.1:${port}/`)).code, 0)
    }).pipe(Effect.provide(open))
  )

  it.scopedLive("repeats at once on a fresh socket when a kept one was closed meanwhile", () =>
    Effect.gen(function* () {
      const answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"
      const server = yield* rawServer((socket, nth) => (nth === 0 ? socket.write(answer) : socket.resetAndDestroy()))
      assert.strictEqual((yield* send(server.url)).code, 200)
      yield* turn
      assert.strictEqual((yield* send(server.url)).code, 200)
      assert.strictEqual(server.count(), 3)
    }).pipe(Effect.provide(open))
  )

  it.scopedLive("does not repeat when a fresh socket is closed", () =>
    Effect.gen(function* () {
      const server = yield* rawServer((socket) => socket.resetAndDestroy())
      assert.strictEqual((yield* send(server.url)).code, 0)
      assert.strictEqual(server.count(), 1)
    }).pipe(Effect.provide(open))
  )

  it.scopedLive("does not repeat when a kept socket is closed in the middle of an answer", () =>
    Effect.gen(function* () {
      const answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"
      const server = yield* rawServer((socket, nth) => (nth === 0 ? socket.write(answer) : socket.end("HTTP/1.1 2")))
      yield* send(server.url)
      yield* turn
      assert.strictEqual((yield* send(server.url)).code, 0)
      assert.strictEqual(server.count(), 2)
    }).pipe(Effect.provide(open))
  )

  it.scopedLive("posts plainly where 100 Continue came unasked, and from then on at once", () =>
    Effect.gen(function* () {
      const answer = "HTTP/1.1 201 Created\r\nretry-after: 7\r\ncontent-length: 3\r\n\r\nabc"
      const server = yield* rawServer((socket) => socket.write(`HTTP/1.1 100 Continue\r\n\r\n${answer}`))
      const outcome = yield* send(server.url)
      assert.deepInclude(outcome, { code: 201, error: null, responseBody: "abc", retryAfter: Option.some("7") })
      assert.strictEqual(server.count(), 2)
      assert.strictEqual((yield* send(server.url)).code, 201)
      assert.strictEqual(server.count(), 3)
    }).pipe(Effect.provide(open))
  )

  it.scopedLive.each<readonly [string, (socket: Socket) => void, Partial<AttemptOutcome>]>([
    ["says nothing more", () => undefined, { code: 0, error: "time-out" }],
    ["closes", (socket) => socket.end(), { code: 0, error: "ECONNRESET" }],
    ["says something else", (socket) => socket.end("SSH-2.0\r\n"), { code: 0, error: "the answer is not HTTP" }],
    [
      "sends headers without measure",
      (socket) => socket.end(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(70_000)}\r\n\r\n`),
      { code: 0, error: "the answer's headers are too large" }
    ],
    [
      "redirects",
      (socket) => socket.end("HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:9/\r\ncontent-length: 0\r\n\r\n"),
      { code: 302, error: null }
    ],
    [
      "sends its body bit by bit",
      (socket) => {
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n")
        drip(socket, "x")
      },
      { code: 200, error: "time-out" }
    ],
    [
      "sends a body without end",
      (socket) => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n")
        pour(socket)
      },
      { code: 200, error: null, responseBody: "x".repeat(2048) }
    ]
  ])("has the same limits for a target that says 100 Continue and %s", ([, serve, expected]) =>
    Effect.gen(function* () {
      const server = yield* rawServer((socket) => {
        socket.write("HTTP/1.1 100 Continue\r\n\r\n")
        serve(socket)
      })
      const outcome = yield* send(server.url, timeFor(expected))
      assert.deepInclude(outcome, expected)
      assert.isBelow(outcome.durationMs, soon)
      yield* until(Effect.sync(server.open), (count) => count === 0)
    }).pipe(Effect.provide(open))
  )

  it.scopedLive("keeps its connections", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make()
      yield* Effect.repeatN(Effect.zipRight(send(receiver.url), turn), 4)
      deepStrictEqual(
        receiver.ledger.map(({ connection }) => connection),
        [1, 1, 1, 1, 1]
      )
    }).pipe(Effect.provide(open))
  )
})

describe("the guard", () => {
  const refused = { code: 0, error: "the target's address is not public" }
  const answering =
    (...addresses: ReadonlyArray<string>): Lookup =>
    (_name, _options, callback) =>
      callback(
        null,
        addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }))
      )

  it.scopedLive.each([
    "127.0.0.1",
    "0.0.0.0",
    "0",
    "2130706433",
    "0177.0.0.1",
    "0x7f.1",
    "127.1",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::127.0.0.1]",
    "localhost"
  ])("refuses %s", (host) =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make()
      assert.deepInclude(yield* send(`http://${host}:${receiver.port}/`), refused)
      assert.strictEqual(receiver.ledger.length, 0)
    }).pipe(Effect.provide(Attempt.layer({ allowPrivate: false })))
  )

  it.scopedLive.each<readonly [string, ReadonlyArray<string>]>([
    ["a private address", ["10.0.0.1"]],
    ["a mixed answer", ["93.184.216.34", "127.0.0.1"]],
    ["a mapped address", ["::ffff:127.0.0.1"]]
  ])("refuses a name that leads to %s", ([, addresses]) =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make()
      const outcome = yield* send(`http://target.example:${receiver.port}/`).pipe(
        Effect.provide(Attempt.layer({ allowPrivate: false, lookup: answering(...addresses) }))
      )
      assert.deepInclude(outcome, refused)
      assert.strictEqual(receiver.ledger.length, 0)
    })
  )

  it.scopedLive("stands before plain connections too", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make()
      const sent = { origin: new URL(receiver.url).origin, path: "/", headers: {}, body: "{}" }
      const post = (policy: TargetPolicy) =>
        Effect.async<number | string>((resume) => {
          new PlainSender(guardedConnector(policy)).dispatch(sent, {
            onRequestStart: () => undefined,
            onResponseStart: (_, status) => resume(Effect.succeed(status)),
            onResponseData: () => undefined,
            onResponseEnd: () => undefined,
            onResponseError: (_, error) => resume(Effect.succeed(error.message))
          })
        })
      assert.strictEqual(yield* post({ allowPrivate: false }), refused.error)
      assert.strictEqual(receiver.ledger.length, 0)
      assert.strictEqual(yield* post({ allowPrivate: true }), 200)
    })
  )

  it.scopedLive("asks again for each connection, so a name that turns inside later is refused then", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make()
      const asked: Array<string> = []
      const turning: Lookup = (name, options, callback) => {
        asked.push(name)
        answering(asked.length === 1 ? "192.0.2.1" : "127.0.0.1")(name, options, callback)
      }
      const url = `http://turning.example:${receiver.port}/`
      const layer = Attempt.layer({ allowPrivate: false, lookup: turning })
      yield* Effect.provide(Effect.zipRight(send(url, brief), send(url, brief)), layer)
      assert.strictEqual(asked.length, 2)
      assert.strictEqual(receiver.ledger.length, 0)
    })
  )
})
