import { createServer, type Server } from "node:http"
import { createServer as createSocketServer } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Option } from "effect"
import { Attempt } from "../../src/webhook/Attempt.ts"

const listening = (server: Server | ReturnType<typeof createSocketServer>) =>
  Effect.acquireRelease(
    Effect.async<string>((resume) => {
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(
          Effect.succeed(`http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/`)
        )
      })
    }),
    () => Effect.sync(() => void server.close())
  )

const post = (url: string, seconds = 2) =>
  Effect.flatMap(Attempt, (attempt) =>
    attempt.send({
      url,
      body: "{}",
      headers: { "content-type": "application/json" },
      timeout: Duration.seconds(seconds)
    })
  )

const open = Effect.provide(Attempt.layer({ allowPrivate: true }))

describe("an attempt", () => {
  it.scopedLive("tells status, the first 2 KiB and Retry-After, and follows no redirect", () =>
    Effect.gen(function* () {
      let hits = 0
      const url = yield* listening(
        createServer((request, response) => {
          hits += 1
          request.resume()
          if (request.url === "/to") response.writeHead(302, { location: "http://169.254.169.254/" }).end()
          else response.writeHead(503, { "retry-after": "7" }).end("x".repeat(5000))
        })
      )
      const busy = yield* post(url)
      assert.strictEqual(busy.code, 503)
      assert.strictEqual(busy.responseBody?.length, 2048)
      assert.deepStrictEqual(busy.retryAfter, Option.some("7"))
      assert.strictEqual((yield* post(`${url}to`)).code, 302)
      assert.strictEqual(hits, 2)
    }).pipe(open)
  )

  it.scopedLive("has one deadline over headers and body, however slowly they drip", () =>
    Effect.gen(function* () {
      const silent = yield* listening(createServer((request) => void request.resume()))
      const dripping = yield* listening(
        createServer((request, response) => {
          request.resume()
          response.writeHead(200)
          const drip = setInterval(() => response.write("x"), 100)
          response.on("close", () => clearInterval(drip))
        })
      )
      const none = yield* post(silent, 1)
      assert.deepStrictEqual([none.code, none.error], [0, "time-out"])
      const slow = yield* post(dripping, 1)
      assert.strictEqual(slow.code, 200)
      assert.isBelow(slow.durationMs, 2000)
    }).pipe(open)
  )

  it.scopedLive("survives an endless body, a broken answer and nobody there", () =>
    Effect.gen(function* () {
      const endless = yield* listening(
        createServer((request, response) => {
          request.resume()
          const pour = () => {
            while (response.write("x".repeat(65_536)));
            response.once("drain", pour)
          }
          pour()
        })
      )
      const garbage = yield* listening(
        createSocketServer((socket) => socket.on("error", () => undefined).end("not http\r\n\r\n"))
      )
      assert.strictEqual((yield* post(endless)).code, 200)
      assert.strictEqual((yield* post(garbage)).code, 0)
      const refused = yield* post("http://127.0.0.1:1/")
      assert.deepStrictEqual([refused.code, refused.error], [0, "ECONNREFUSED"])
    }).pipe(open)
  )

  it.scopedLive("never connects to an address inside, however it is spelled", () =>
    Effect.gen(function* () {
      let hits = 0
      const url = yield* listening(createServer((_, response) => void (hits++, response.end())))
      const port = new URL(url).port
      for (const host of ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433", "0", "0x7f.1"]) {
        const outcome = yield* post(`http://${host}:${port}/`)
        assert.deepStrictEqual([outcome.code, outcome.error], [0, "the target's address is not public"], host)
      }
      assert.strictEqual(hits, 0)
    }).pipe(Effect.provide(Attempt.layer({ allowPrivate: false })))
  )
})
