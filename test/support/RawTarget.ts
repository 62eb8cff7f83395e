import { spawn } from "node:child_process"
import { createServer, type Server, type Socket } from "node:net"
import { connect } from "node:net"
import { createServer as createTlsServer } from "node:tls"
import { Effect, type Scope } from "effect"
import type { Certificate } from "./Certificates.ts"

/** A target below HTTP, which does anything at all with its sockets. */
export interface RawTarget {
  readonly port: number
  /** Connections that stand now. */
  readonly open: () => number
  /** Requests that have begun to arrive. */
  readonly requests: () => number
}

export type Serve = (socket: Socket, nth: number) => void

const listening = (server: Server, backlog?: number) =>
  Effect.async<number>((resume) => {
    server.listen({ port: 0, host: "127.0.0.1", backlog }, () => {
      const address = server.address()
      resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

/** `serve` gets the socket at each request and how many requests came on that socket before. */
export const rawTarget = (serve: Serve, tls?: Certificate): Effect.Effect<RawTarget, never, Scope.Scope> =>
  Effect.gen(function* () {
    const sockets = new Set<Socket>()
    let requests = 0
    const attend = (socket: Socket) => {
      let nth = 0
      socket.on("error", () => undefined)
      socket.on("data", (data) => {
        if (!data.toString("latin1").startsWith("POST")) return
        requests += 1
        serve(socket, nth++)
      })
    }
    const server = yield* Effect.acquireRelease(
      Effect.sync(() =>
        tls === undefined ? createServer(attend) : createTlsServer({ key: tls.key, cert: tls.cert }, attend)
      ),
      (opened) =>
        Effect.sync(() => {
          opened.close()
          sockets.forEach((socket) => socket.destroy())
        })
    )
    server.on("connection", (socket: Socket) => {
      sockets.add(socket)
      socket.on("error", () => undefined)
      socket.on("close", () => sockets.delete(socket))
    })
    server.on("tlsClientError", () => undefined)
    const port = yield* listening(server)
    return { port, open: () => sockets.size, requests: () => requests }
  })

/** Something every so often, until the socket is gone. */
export const drip = (socket: Socket, text: string, every = 50) => {
  const timer = setInterval(() => socket.write(text), every)
  socket.on("close", () => clearInterval(timer))
}

/** As fast as the other end reads, until it has had enough or `bytes` are sent. */
export const pour = (socket: Socket, bytes = Infinity) => {
  const block = Buffer.alloc(65_536, "x")
  let sent = 0
  const more = () => {
    while (!socket.destroyed && sent < bytes) {
      sent += block.length
      if (!socket.write(block)) return
    }
  }
  socket.on("drain", more)
  more()
}

const frozen = `
  const server = require("node:net").createServer().listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
    console.log(server.address().port)
    setTimeout(() => process.kill(process.pid, "SIGSTOP"), 50)
  })
`

/** A port that listens and never accepts: its process is stopped, and its backlog is full. */
export const neverAccepts = Effect.gen(function* () {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => spawn(process.execPath, ["-e", frozen], { stdio: ["ignore", "pipe", "inherit"] })),
    (process) => Effect.sync(() => process.kill("SIGKILL"))
  )
  const port = yield* Effect.async<number>((resume) => {
    child.stdout.once("data", (text: Buffer) => resume(Effect.succeed(Number(text.toString()))))
  })
  yield* Effect.sleep("300 millis")
  yield* Effect.acquireRelease(
    Effect.sync(() =>
      Array.from({ length: 4 }, () => connect({ port, host: "127.0.0.1" }).on("error", () => undefined))
    ),
    (sockets) => Effect.sync(() => sockets.forEach((socket) => socket.destroy()))
  )
  yield* Effect.sleep("100 millis")
  return port
})
