import type { Socket } from "node:net"
import { Effect } from "effect"
import { Agent, type buildConnector, Client, type Dispatcher, Pool } from "undici"
import { PlainSender } from "./PlainSender.ts"
import { guardedConnector, type TargetPolicy } from "./TargetGuard.ts"

/** One kept connection, as its owner sees it: how often it was used, and how much ever came back. */
class Connection {
  #socket: Socket | undefined
  #uses = 0

  readonly connector =
    (connect: buildConnector.connector): buildConnector.connector =>
    (options, callback) =>
      connect(options, (...outcome) => {
        const [, socket] = outcome
        if (socket !== null) {
          this.#socket = socket
          this.#uses = 0
        }
        callback(...outcome)
      })

  /** Begins one use; the answer tells whether the socket had served before and nothing has arrived on it since. */
  use(): () => boolean {
    this.#uses += 1
    const socket = this.#socket
    const isReused = this.#uses > 1
    const before = socket?.bytesRead
    return () => isReused && socket?.bytesRead === before
  }
}

/** One POST as undici takes it, which learns the connection that it goes out on. */
export class Post implements Dispatcher.DispatchOptions {
  readonly method = "POST"
  /** The deadline is the caller's, over all of it. */
  readonly headersTimeout = 0
  readonly bodyTimeout = 0
  readonly origin: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string
  connection: Connection | undefined = undefined

  constructor(url: URL, headers: Readonly<Record<string, string>>, body: string) {
    this.origin = url.origin
    this.path = url.pathname + url.search
    this.headers = headers
    this.body = body
  }
}

class WatchedClient extends Client {
  readonly #connection: Connection

  constructor(origin: URL, connect: buildConnector.connector) {
    const connection = new Connection()
    super(origin, { pipelining: 1, connect: connection.connector(connect) })
    this.#connection = connection
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (options instanceof Post) options.connection = this.#connection
    return super.dispatch(options, handler)
  }
}

/**
 * Kept connections, fresh ones for a single use, and plain ones for what undici does not read. Proxies of the environment
 * are not used: they resolve names.
 */
export const make = (policy: TargetPolicy) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const connect = guardedConnector(policy)
      const pool = (origin: string | URL) => new Pool(origin, { factory: (url) => new WatchedClient(url, connect) })
      const plain = new PlainSender(connect)
      return { kept: new Agent({ factory: pool }), fresh: new Agent({ connect, pipelining: 0 }), plain }
    }),
    ({ fresh, kept, plain }) =>
      Effect.zipRight(
        Effect.sync(() => plain.destroy()),
        Effect.promise(() => Promise.all([kept.destroy(), fresh.destroy()]))
      )
  )
