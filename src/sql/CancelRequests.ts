import type { Pool, PoolClient } from "pg"

type Lent = (error: Error | undefined, client: PoolClient | undefined, release: (destroy?: unknown) => void) => void

const cancelRequest = /^SELECT pg_cancel_backend\((\d+)\)$/

const processIdOf = (client: PoolClient) => Number(Reflect.get(client, "processID"))

const backendToCancel = (text: unknown) => {
  const [, processId] = typeof text === "string" ? (cancelRequest.exec(text) ?? []) : []
  return processId === undefined ? undefined : Number(processId)
}

/**
 * Sends the requests by which the SQL client cancels the statements of interrupted fibers over `requests`, and sees to
 * it that they hit nothing else. PostgreSQL cancels whatever the connection runs when the request arrives
 * (https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS), while the client gives
 * a connection back as soon as its statement has ended, whether or not a request is under way
 * (https://github.com/Effect-TS/effect/issues/8068). So:
 *
 * - a request is dropped when its connection has been given back meanwhile;
 * - a connection is lent again only when the request that was sent for it has been answered;
 * - requests do not wait for the connections that they are to set free.
 */
export const useCancelRequests = (connections: Pool, requests: Pool) => {
  const loans = new Map<number, symbol>()
  const waitingFor = new Map<number, Array<() => void>>()
  connections.on("acquire", (client) => loans.set(processIdOf(client), Symbol()))
  connections.on("release", (_, client) => loans.delete(processIdOf(client)))

  const cancel = (processId: number, answer: () => void) => {
    const loan = loans.get(processId)
    if (loan === undefined) return answer()
    requests.connect((_, request, release) => {
      if (request === undefined || loans.get(processId) !== loan) {
        release()
        return answer()
      }
      const waiting: Array<() => void> = []
      waitingFor.set(processId, waiting)
      request.query("SELECT pg_cancel_backend($1)", [processId], (failed) => {
        release(failed)
        waitingFor.delete(processId)
        for (const lend of waiting) lend()
        answer()
      })
    })
  }

  const connect = connections.connect.bind(connections)
  const lend = (lent: Lent) =>
    connect((error, client, release) => {
      const waiting = client === undefined ? undefined : waitingFor.get(processIdOf(client))
      if (waiting === undefined) lent(error, client, release)
      else waiting.push(() => lent(error, client, release))
    })

  const query: (...statement: ReadonlyArray<unknown>) => unknown = connections.query.bind(connections)
  Object.assign(connections, {
    connect: (lent?: Lent) =>
      lent === undefined
        ? new Promise((resolve, reject) => lend((error, client) => (error ? reject(error) : resolve(client))))
        : lend(lent),
    query: (...statement: ReadonlyArray<unknown>) => {
      const [text, answer] = statement
      const processId = backendToCancel(text)
      return processId !== undefined && typeof answer === "function"
        ? cancel(processId, () => answer())
        : query(...statement)
    }
  })
}
