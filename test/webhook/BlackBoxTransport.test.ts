import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { freePort } from "../support/Gatehouse.ts"
import { drip, neverAccepts, pour, rawTarget, type Serve } from "../support/RawTarget.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import { assertSucceeded, assertWaits, besideAHealthyOne } from "./Beside.ts"

const head = "HTTP/1.1 200 OK\r\ncontent-length: "
const empty = `${head}0\r\n\r\n`
const mebibyte = 1024 * 1024

/** Who takes his time is given little of it, everybody else as much as a busy machine may need. */
const timeFor = (error: RegExp | null, code = 0) => ({
  timeoutSeconds: error?.source.includes("time-out") !== true ? 10 : code === 0 ? 1 : 2
})

const targetOf = (serve: Serve) =>
  Effect.map(rawTarget(serve), (target) => ({ ...target, url: `http://127.0.0.1:${target.port}/` }))

layer(TestDatabase.layer, { excludeTestServices: true })("a target that", (it) => {
  it.scoped.each<readonly [string, Serve, number, RegExp]>([
    ["says nothing", () => undefined, 0, /^time-out$/],
    [
      "sends its headers bit by bit",
      (socket) => {
        socket.write("HTTP/1.1 200 OK\r\nx: ")
        drip(socket, "y")
      },
      0,
      /^time-out$/
    ],
    ["sends 103 without end", (socket) => drip(socket, "HTTP/1.1 103 Early Hints\r\n\r\n"), 0, /^time-out$/],
    ["closes at once", (socket) => socket.end(), 0, /closed/],
    ["resets at once", (socket) => socket.resetAndDestroy(), 0, /ECONNRESET/],
    [
      "resets amid its headers",
      (socket) => socket.write("HTTP/1.1 200 OK\r\nx: y", () => setTimeout(() => socket.resetAndDestroy(), 20)),
      0,
      /ECONNRESET/
    ],
    ["speaks something else", (socket) => socket.end("SSH-2.0-OpenSSH_9.9\r\n"), 0, /not HTTP/],
    [
      "answers with headers beyond measure",
      (socket) => socket.end(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(90_000)}\r\n\r\n`),
      0,
      /too large/
    ]
  ])("%s is tried again", ([, serve, code, error]) =>
    Effect.gen(function* () {
      const target = yield* targetOf(serve)
      assertWaits(yield* besideAHealthyOne(target, timeFor(error, code)), code, error)
      assert.strictEqual(target.requests(), 1)
    })
  )

  it.scoped.each<readonly [string, Serve, RegExp | null]>([
    [
      "sends its body bit by bit",
      (socket) => {
        socket.write(`${head}1000\r\n\r\n`)
        drip(socket, "x")
      },
      /time-out/
    ],
    [
      "sends a body of 100 MiB",
      (socket) => {
        socket.write(`${head}${100 * mebibyte}\r\n\r\n`)
        pour(socket, 100 * mebibyte)
      },
      null
    ],
    [
      "sends a body without end",
      (socket) => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n")
        pour(socket)
      },
      null
    ],
    [
      "resets amid its body",
      (socket) => socket.write(`${head}9\r\n\r\nabc`, () => setTimeout(() => socket.resetAndDestroy(), 20)),
      /ECONNRESET/
    ],
    ["speaks HTTP/1.0", (socket) => socket.end("HTTP/1.0 200 OK\r\n\r\nfine"), null],
    ["sends 103 first", (socket) => socket.write(`HTTP/1.1 103 Early Hints\r\n\r\n${empty}`), null],
    [
      "sends 100 Continue that nobody asked for",
      (socket) => socket.write("HTTP/1.1 100 Continue\r\n\r\n", () => setTimeout(() => socket.write(empty), 20)),
      null
    ]
  ])("%s has the event: its status counts", ([, serve, error]) =>
    Effect.gen(function* () {
      const target = yield* targetOf(serve)
      const delivery = yield* besideAHealthyOne(target, timeFor(error, 200))
      assertSucceeded(delivery, 200)
      const [attempt] = delivery.attempts
      if (error === null) assert.isNull(attempt?.error)
      else assert.match(attempt?.error ?? "", error)
      assert.isAtMost(attempt?.responseBody?.length ?? 0, 2048)
    })
  )

  it.scoped("closes its idle connection just as we send gets the event on a fresh one, in the same attempt", () =>
    Effect.gen(function* () {
      const target = yield* targetOf((socket, nth) => (nth === 0 ? socket.write(empty) : socket.resetAndDestroy()))
      const delivery = yield* besideAHealthyOne(target, { events: 4 })
      assertSucceeded(delivery, 200)
    })
  )

  it.scoped("refuses connections is tried again", () =>
    Effect.gen(function* () {
      const port = yield* freePort
      assertWaits(yield* besideAHealthyOne({ url: `http://127.0.0.1:${port}/` }), 0, /ECONNREFUSED/)
    })
  )

  it.scoped("never accepts is tried again", () =>
    Effect.gen(function* () {
      const port = yield* neverAccepts
      const error = /time-out/
      assertWaits(yield* besideAHealthyOne({ url: `http://127.0.0.1:${port}/` }, timeFor(error)), 0, error)
    })
  )
})
