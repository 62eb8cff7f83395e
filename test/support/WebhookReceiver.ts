import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http"
import { Effect, Queue, type Scope } from "effect"

export interface ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** As received, before any parsing. */
  readonly rawBody: string
  readonly at: number
  /** Which connection it came on, counted from 1. */
  readonly connection: number
}

/** What a target does with one request: a plain answer, or anything at all with the response and its socket. */
export type Answer =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  | ((response: ServerResponse, request: IncomingMessage) => void)

/** Reads the request and says nothing, for ever. */
export const silence: Answer = () => undefined
/** Closes the connection with an RST. */
export const reset: Answer = (response) => void response.socket?.resetAndDestroy()

export interface WebhookReceiver {
  readonly url: string
  readonly port: number
  /** Every request so far, in order of arrival. */
  readonly ledger: ReadonlyArray<ReceivedRequest>
  /** Waits for the next request that was not yet taken. */
  readonly take: Effect.Effect<ReceivedRequest>
  readonly takeN: (count: number) => Effect.Effect<ReadonlyArray<ReceivedRequest>>
  /** Answers for the next requests; after them `otherwise` is given. */
  readonly script: (...answers: ReadonlyArray<Answer>) => void
}

const listening = (server: ReturnType<typeof createServer>) =>
  Effect.async<number>((resume) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

/** Before the engine looks by itself for what is due, so that an event of which it was not told comes too late. */
const inTime = <A>(taken: Effect.Effect<A>) => Effect.orDie(Effect.timeout(taken, "25 seconds"))

/** A real HTTP server on a free port of 127.0.0.1; closed with the scope, hanging requests included. */
export const make = (otherwise: Answer = { status: 200 }): Effect.Effect<WebhookReceiver, never, Scope.Scope> =>
  Effect.gen(function* () {
    const ledger: Array<ReceivedRequest> = []
    const scripted: Array<Answer> = []
    const arrived = yield* Queue.unbounded<ReceivedRequest>()
    const connections = new Map<unknown, number>()

    const answer = (request: IncomingMessage, response: ServerResponse, rawBody: string) => {
      const connection = connections.get(request.socket) ?? connections.size + 1
      connections.set(request.socket, connection)
      const { headers, method = "", url: path = "" } = request
      const received = { method, path, headers, rawBody, at: Date.now(), connection }
      ledger.push(received)
      arrived.unsafeOffer(received)
      const next = scripted.shift() ?? otherwise
      if (typeof next === "function") return next(response, request)
      response.writeHead(next.status, next.headers).end(next.body)
    }
    const server = yield* Effect.acquireRelease(
      Effect.sync(() =>
        createServer((request, response) => {
          const chunks: Array<Buffer> = []
          request.on("data", (chunk: Buffer) => chunks.push(chunk))
          request.on("end", () => answer(request, response, Buffer.concat(chunks).toString("utf8")))
          request.on("error", () => undefined)
          response.on("error", () => undefined)
        })
      ),
      (opened) =>
        Effect.async<void>((resume) => {
          opened.close(() => resume(Effect.void))
          opened.closeAllConnections()
        })
    )
    const port = yield* listening(server)
    return {
      url: `http://127.0.0.1:${port}/hook`,
      port,
      ledger,
      take: inTime(Queue.take(arrived)),
      takeN: (count) => Effect.map(inTime(Queue.takeN(arrived, count)), (requests) => [...requests]),
      script: (...answers) => void scripted.push(...answers)
    }
  })
