import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import { connect, type Socket } from "node:net"
import { HttpServerResponse } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { deepStrictEqual } from "@effect/vitest/utils"
import { Chunk, Effect, Layer, Stream, TestClock } from "effect"
import { Closing } from "../../src/http/Closing.ts"
import { CredentialCheck } from "../../src/http/CredentialCheck.ts"
import { eventStream } from "../../src/http/EventStream.ts"
import { StreamSlots } from "../../src/http/StreamSlots.ts"

const services = Layer.mergeAll(
  Closing.layer,
  StreamSlots.layer,
  Layer.succeed(CredentialCheck, { areValid: () => Effect.succeed(true) })
)

const data = "x".repeat(64 * 1024)
const readAtOnce = 200

/** A server whose streams have events without end, or none, and which tells what it keeps for its readers. */
const serving = (pieces: Stream.Stream<number>) =>
  Effect.gen(function* () {
    const node = createServer()
    const responses: Array<ServerResponse> = []
    node.on("request", (_, response) => responses.push(response))
    const http = yield* NodeHttpServer.make(() => node, { port: 0, host: "127.0.0.1" })
    const events = Stream.map(pieces, (nth) => ({ id: String(nth), event: "message.received", data }))
    const app = eventStream("someone", events).pipe(
      Effect.catchTag("TooMany", () => Effect.succeed(HttpServerResponse.empty({ status: 429 })))
    )
    yield* http.serve(app)
    const port = http.address._tag === "TcpAddress" ? http.address.port : assert.fail()
    const reader = Effect.acquireRelease(
      Effect.sync(() => {
        const socket = connect({ port, host: "127.0.0.1" }).on("error", () => undefined)
        socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        return socket
      }),
      (socket) => Effect.sync(() => socket.destroy())
    )
    return { responses, reader }
  }).pipe(Effect.provide(services))

const endless = Stream.unwrap(
  Effect.sync(() => {
    let asked = 0
    return Stream.repeatEffectChunk(
      Effect.sync(() => Chunk.unsafeFromArray(Array.from({ length: readAtOnce }, () => asked++)))
    )
  })
)

const firstBytes = (socket: Socket) => Effect.promise(() => once(socket, "data").then(([bytes]) => String(bytes)))

const readMore = (socket: Socket, bytes: number) =>
  Effect.async<void>((resume) => {
    const enough = socket.bytesRead + bytes
    const read = () => {
      if (socket.bytesRead < enough) return
      socket.off("data", read).pause()
      resume(Effect.void)
    }
    socket.on("data", read)
    socket.resume()
  })

/** Real time, in which sockets fill, while the clock of the program stands. */
const untilStill = (read: () => number) =>
  Effect.async<number>((resume) => {
    let last = -1
    const timer = setInterval(() => {
      const now = read()
      if (now === last && now > 0) {
        clearInterval(timer)
        resume(Effect.succeed(now))
      }
      last = now
    }, 200)
  })

const closed = (response: ServerResponse) =>
  response.destroyed ? Effect.void : Effect.promise(() => once(response, "close"))

describe("a stream of events", () => {
  it.scoped("keeps one event at most for a reader that takes nothing, and cuts it off", () =>
    Effect.gen(function* () {
      const { reader, responses } = yield* serving(endless)
      const deaf = (yield* reader).pause()
      yield* untilStill(() => deaf.bytesRead + (responses[0]?.writableLength ?? 0))
      const [response = assert.fail()] = responses
      assert.isTrue(response.writableNeedDrain)
      assert.isBelow(response.writableLength, 3 * data.length)
      yield* TestClock.adjust("20 seconds")
      assert.isFalse(response.destroyed)
      yield* TestClock.adjust("30 seconds")
      yield* closed(response)
    })
  )

  it.scoped("goes on for a reader that is only slow", () =>
    Effect.gen(function* () {
      const { reader, responses } = yield* serving(Stream.take(endless, 1_000))
      const slow = (yield* reader).pause()
      for (let beat = 0; beat < 6; beat++) {
        yield* untilStill(() => slow.bytesRead + (responses[0]?.writableLength ?? 0))
        assert.isTrue(responses[0]?.writableNeedDrain)
        yield* TestClock.adjust("15 seconds")
        yield* readMore(slow, 8 * 1024 * 1024)
      }
      assert.isFalse(responses[0]?.destroyed)
    })
  )

  it.scoped("is refused beyond twenty of a reader, until one ends", () =>
    Effect.gen(function* () {
      const { reader } = yield* serving(Stream.never)
      const status = Effect.map(Effect.flatMap(reader, firstBytes), (text) => text.slice(9, 12))
      const first = yield* reader
      yield* firstBytes(first)
      const others = yield* Effect.replicateEffect(status, 20)
      deepStrictEqual(others, [...Array.from({ length: 19 }, () => "200"), "429"])
      first.destroy()
      yield* Effect.repeat(status, { until: (found) => found === "200" })
    })
  )
})
