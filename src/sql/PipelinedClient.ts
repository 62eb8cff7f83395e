import type { PoolClient } from "pg"

type Answer = (error: null, result: { readonly rows: ReadonlyArray<never>; readonly rowCount: null }) => void

const marked = /^\s*\/\* prepared: (\w+) \*\//

const nameOf = (text: unknown) => (typeof text === "string" ? marked.exec(text)?.[1] : undefined)

const isAnswer = (last: unknown): last is Answer => typeof last === "function"

const beginning = new WeakMap<PoolClient, Array<() => void>>()

/** Waits for a `BEGIN` that is under way: were it canceled, the statement behind it would be carried out alone. */
export const whenBegun = (client: PoolClient, go: () => void) => {
  const waiting = beginning.get(client)
  if (waiting === undefined) go()
  else waiting.push(go)
}

/**
 * Spares a connection work on the way to the database. It has to be in pipeline mode.
 *
 * A statement that begins with the comment `prepared: name` is planned once for each connection: for the few that run
 * for every message, where planning costs as much as running. Its text must not vary.
 *
 * `BEGIN` goes out together with the first statement behind it, which saves every transaction a round trip. On a
 * connection that answers it cannot fail, as nobody cancels it (`whenBegun`); on one that does not, the statement fails as
 * well. A transaction without statements is not told to the database at all.
 */
export const usePipeline = (client: PoolClient) => {
  const query = client.query.bind(client)
  let isToBegin = false

  const send = (text: unknown, ...rest: ReadonlyArray<unknown>): unknown => {
    const name = nameOf(text)
    const [values, ...answer] = rest
    return Reflect.apply(query, client, name === undefined ? [text, ...rest] : [{ name, text, values }, ...answer])
  }
  const sendBehindBegin = (...statement: ReadonlyArray<unknown>): unknown => {
    const { stream } = client.connection
    stream.cork()
    const waiting: Array<() => void> = []
    beginning.set(client, waiting)
    query("BEGIN", () => {
      beginning.delete(client)
      for (const go of waiting) go()
    })
    const sent = Reflect.apply(send, undefined, statement)
    stream.uncork()
    return sent
  }

  const pipelined = (...statement: ReadonlyArray<unknown>): unknown => {
    const [text] = statement
    const answer = statement.at(-1)
    const hasBegun = !isToBegin
    const isSpared = isAnswer(answer) && (text === "BEGIN" || (!hasBegun && (text === "COMMIT" || text === "ROLLBACK")))
    isToBegin = isSpared && text === "BEGIN"
    if (isSpared) return process.nextTick(answer, null, { rows: [], rowCount: null })
    return Reflect.apply(hasBegun ? send : sendBehindBegin, undefined, statement)
  }
  Object.assign(client, { query: pipelined })
}
