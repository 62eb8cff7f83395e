import { createServer, type RequestListener } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Duration, Effect, Either, Fiber } from "effect"
import { makeHttpExchange, type Outgoing } from "../../src/kit/HttpExchange.ts"
import { freePort } from "../support/Gatehouse.ts"

const limit = 1_000

const listening = (listener: RequestListener) =>
  Effect.acquireRelease(
    Effect.async<{ readonly origin: string; readonly close: () => void }>((resume) => {
      const server = createServer(listener)
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        const close = () => {
          server.closeAllConnections()
          server.close()
        }
        resume(Effect.succeed({ origin: `http://127.0.0.1:${port}`, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

const outgoing = (origin: string, more: Partial<Outgoing> = {}): Outgoing => ({
  origin,
  method: "GET",
  path: "/",
  headers: {},
  body: null,
  timeout: Duration.seconds(20),
  ...more
})

describe("an HTTP exchange", () => {
  it.scopedLive("sends what it is given and reads what comes back", () =>
    Effect.gen(function* () {
      const { origin } = yield* listening((request, response) => {
        const chunks: Array<Buffer> = []
        request.on("data", (chunk: Buffer) => chunks.push(chunk))
        request.on("end", () => {
          const said = `${request.method} ${request.url} ${request.headers["x-said"]} ${Buffer.concat(chunks).toString()}`
          response.writeHead(418, { "x-many": ["a", "b"] }).end(said)
        })
      })
      const exchange = yield* makeHttpExchange(limit)
      const { headers, ...answer } = yield* exchange(
        outgoing(origin, { method: "POST", path: "/tea?now", headers: { "x-said": "please" }, body: "Grün" })
      )
      deepStrictEqual(answer, { status: 418, text: "POST /tea?now please Grün", isWhole: true })
      assert.strictEqual(headers["x-many"], "a, b")
    })
  )

  it.scopedLive("reads no more of an answer than it may", () =>
    Effect.gen(function* () {
      const { origin } = yield* listening((_, response) => {
        response.writeHead(200)
        const flood = () => {
          while (response.write("x".repeat(500)));
          response.once("drain", flood)
        }
        flood()
      })
      const exchange = yield* makeHttpExchange(limit)
      const { isWhole, status, text } = yield* exchange(outgoing(origin))
      deepStrictEqual({ isWhole, status, length: text.length }, { isWhole: false, status: 200, length: limit })
    })
  )

  it.scopedLive("says why there is no answer", () =>
    Effect.gen(function* () {
      const { origin } = yield* listening((request, response) => {
        if (request.url === "/broken")
          response.writeHead(200, { "content-length": 9 }).write("half", () => response.destroy())
        if (request.url === "/dribble") {
          response.writeHead(200)
          const drop = setInterval(() => response.write("x"), 20)
          response.on("close", () => clearInterval(drop))
        }
      })
      const exchange = yield* makeHttpExchange(limit)
      const timeout = Duration.millis(200)
      const asked = [
        outgoing(`http://127.0.0.1:${yield* freePort}`),
        outgoing(origin, { path: "/broken" }),
        outgoing(origin, { path: "/silent", timeout }),
        outgoing(origin, { path: "/dribble", timeout }),
        outgoing(origin, { headers: { authorization: "Bearer a\nb" } })
      ]
      const answers = yield* Effect.forEach(asked, (one) => Effect.either(exchange(one)), { concurrency: "unbounded" })
      deepStrictEqual(
        answers.map((answer) => (Either.isLeft(answer) ? answer.left : "an answer")),
        ["unreachable", "broken off", "too late", "too late", "unreachable"]
      )
    })
  )

  it.scopedLive("hangs up when nobody waits any more", () =>
    Effect.gen(function* () {
      let hungUp: () => void = () => undefined
      const isOver = new Promise<void>((resolve) => (hungUp = resolve))
      let arrived: () => void = () => undefined
      const isThere = new Promise<void>((resolve) => (arrived = resolve))
      const { origin } = yield* listening((request) => {
        request.on("close", hungUp)
        arrived()
      })
      const exchange = yield* makeHttpExchange(limit)
      const waiting = yield* Effect.fork(exchange(outgoing(origin)))
      yield* Effect.promise(() => isThere)
      yield* Fiber.interrupt(waiting)
      yield* Effect.promise(() => isOver)
    })
  )
})
