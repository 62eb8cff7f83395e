import { type ClientRequest, type IncomingHttpHeaders, request } from "node:http"
import type { buildConnector, Dispatcher } from "undici"

/** What is told of one request, as undici tells it. */
export interface Hearing {
  readonly onRequestStart: (controller: Pick<Dispatcher.DispatchController, "abort">) => void
  readonly onResponseStart: (controller: unknown, status: number, headers: IncomingHttpHeaders) => void
  readonly onResponseData: (controller: unknown, chunk: Buffer) => void
  readonly onResponseEnd: () => void
  readonly onResponseError: (controller: unknown, error: Error) => void
}

interface Sent {
  readonly origin: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * Posts by `node:http`, each on a connection for itself, to targets that say `100 Continue` though nobody asked: undici
 * takes that for a bad answer. The connector, and so the guard of targets, is that of all others.
 */
export class PlainSender {
  readonly #connect: buildConnector.connector
  readonly #underWay = new Set<ClientRequest>()

  constructor(connect: buildConnector.connector) {
    this.#connect = connect
  }

  dispatch(sent: Sent, hearing: Hearing) {
    const { host, hostname, port, protocol } = new URL(sent.origin)
    this.#connect({ host, hostname: hostname.replace(/^\[|\]$/g, ""), port, protocol }, (...outcome) => {
      const [error, socket] = outcome
      if (error !== null) return hearing.onResponseError(undefined, error)
      const post = request({
        method: "POST",
        path: sent.path,
        headers: { ...sent.headers, Host: host },
        createConnection: () => socket
      })
      this.#listen(post, hearing)
      hearing.onRequestStart({ abort: (reason) => void post.destroy(reason) })
      post.end(sent.body)
    })
  }

  destroy() {
    this.#underWay.forEach((post) => post.destroy())
  }

  #listen(post: ClientRequest, hearing: Hearing) {
    const fail = (error: Error) => hearing.onResponseError(undefined, error)
    this.#underWay.add(post)
    post.on("error", fail)
    post.on("close", () => this.#underWay.delete(post))
    post.on("response", (answer) => {
      hearing.onResponseStart(undefined, answer.statusCode ?? 0, answer.headers)
      answer.on("data", (chunk: Buffer) => hearing.onResponseData(undefined, chunk))
      answer.on("end", () => hearing.onResponseEnd())
      answer.on("error", fail)
    })
  }
}
