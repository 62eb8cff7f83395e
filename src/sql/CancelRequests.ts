import type { Pool, PoolClient } from "pg"
import { whenBegun } from "./PipelinedClient.ts"

type Lent = (error: Error | undefined, client: PoolClient | undefined, release: (destroy?: unknown) => void) => void

const cancelRequest = /^SELECT pg_cancel_backend\((\d+)\)$/

/** No process has such a number. */
const firstLoan = 2 ** 31

const loanToCancel = (text: unknown) => {
  const [, loan] = typeof text === "string" ? (cancelRequest.exec(text) ?? []) : []
  return loan === undefined ? undefined : Number(loan)
}

/**
 * Sends the requests by which the SQL client cancels the statements of interrupted fibers over `requests`, and sees to
 * it that they hit nothing else. PostgreSQL cancels whatever the connection runs when the request arrives
 * (https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS), while the client gives
 * a connection back as soon as its statement has ended, whether or not a request is under way or still to come
 * (https://github.com/Effect-TS/effect/issues/8068). So:
 *
 * - whoever has a connection sees the number of his loan as its process, and can cancel nothing but what he runs himself;
 * - a request waits for the `BEGIN` before its statement, and is dropped when its connection has been given back meanwhile;
 * - a connection is lent again only when the request that was sent for it has been answered;
 * - requests do not wait for the connections that they are to set free.
 */
export const useCancelRequests = (connections: Pool, requests: Pool) => {
  const loans = new Map<number, PoolClient>()
  const loanOf = new WeakMap<PoolClient, number>()
  const waitingFor = new Map<PoolClient, Array<() => void>>()
  let loan = firstLoan
  connections.on("release", (_, client) => loans.delete(loanOf.get(client) ?? 0))

  const onLoan = (client: PoolClient) => {
    const mine = (loan += 1)
    loans.set(mine, client)
    loanOf.set(client, mine)
    return new Proxy(client, { get: (of, key) => (key === "processID" ? mine : Reflect.get(of, key)) })
  }

  const send = (request: PoolClient, client: PoolClient, answer: (failed: Error | null) => void) => {
    const waiting: Array<() => void> = []
    waitingFor.set(client, waiting)
    request.query("SELECT pg_cancel_backend($1)", [Reflect.get(client, "processID")], (failed) => {
      waitingFor.delete(client)
      for (const lend of waiting) lend()
      answer(failed)
    })
  }

  const cancel = (mine: number, answer: () => void) => {
    const client = loans.get(mine)
    if (client === undefined) return answer()
    requests.connect((_, request, release) => {
      if (request === undefined) return answer()
      const over = (failed?: Error | null) => {
        release(failed)
        answer()
      }
      whenBegun(client, () => (loans.has(mine) ? send(request, client, over) : over()))
    })
  }

  const connect = connections.connect.bind(connections)
  const lend = (lent: Lent) =>
    connect((error, client, release) => {
      if (client === undefined) return lent(error, client, release)
      const now = () => lent(error, onLoan(client), release)
      const waiting = waitingFor.get(client)
      if (waiting === undefined) now()
      else waiting.push(now)
    })

  const query: (...statement: ReadonlyArray<unknown>) => unknown = connections.query.bind(connections)
  Object.assign(connections, {
    connect: (lent?: Lent) =>
      lent === undefined
        ? new Promise((resolve, reject) => lend((error, client) => (error ? reject(error) : resolve(client))))
        : lend(lent),
    query: (...statement: ReadonlyArray<unknown>) => {
      const [text, answer] = statement
      const mine = loanToCancel(text)
      return mine !== undefined && typeof answer === "function" ? cancel(mine, () => answer()) : query(...statement)
    }
  })
}
