import { randomUUID } from "node:crypto"

/** An account that a channel may log in to, with what its login asks for. */
export interface SimulatedAccount {
  readonly pk: string
  readonly username: string
  readonly password: string
  readonly twoFactorCode: string | undefined
  readonly challengeCode: string | undefined
  challengeSent: boolean
  challengePassed: boolean
}

export interface SimulatedItem {
  readonly item_id: string
  readonly user_id: string
  readonly timestamp: string
  readonly item_type: string
  readonly text: string
  readonly client_context: string | undefined
}

export interface SimulatedThread {
  readonly thread_id: string
  readonly members: ReadonlyArray<string>
  readonly items: Array<SimulatedItem>
  pending: boolean
}

/** The people, accounts and threads of the simulated platform. Ids exceed 2^53, as the real ones do. */
export const makeWorld = () => {
  const accounts = new Map<string, SimulatedAccount>()
  const people = new Map<string, string>()
  const threads = new Map<string, SimulatedThread>()
  const tokens = new Map<string, string>()
  let last = 17_000_000_000_000_000n
  let lastMicros = 0

  const nextId = () => String((last += 1_001n))
  const nextMicros = (now: number) => String((lastMicros = Math.max(lastMicros + 1, now * 1000)))

  const userOf = (pk: string) => {
    const account = [...accounts.values()].find((candidate) => candidate.pk === pk)
    const username = account?.username ?? [...people].find(([, id]) => id === pk)?.[0] ?? pk
    return { pk, username, full_name: username }
  }

  const personPk = (username: string) => {
    const known = people.get(username)
    if (known !== undefined) return known
    const pk = nextId()
    people.set(username, pk)
    return pk
  }

  const threadBetween = (left: string, right: string) => {
    const known = [...threads.values()].find(({ members }) => members.includes(left) && members.includes(right))
    if (known !== undefined) return known
    const thread: SimulatedThread = { thread_id: nextId(), members: [left, right], items: [], pending: false }
    threads.set(thread.thread_id, thread)
    return thread
  }

  const write = (
    thread: SimulatedThread,
    author: string,
    text: string,
    now: number,
    more: { readonly type?: string; readonly clientContext?: string | undefined } = {}
  ) => {
    const item: SimulatedItem = {
      item_id: nextId(),
      user_id: author,
      timestamp: nextMicros(now),
      item_type: more.type ?? "text",
      text,
      client_context: more.clientContext
    }
    thread.items.unshift(item)
    return item
  }

  return {
    accounts,
    people,
    threads,
    nextId,
    userOf,
    personPk,
    threadBetween,
    write,
    open: (account: SimulatedAccount) => {
      const token = `Bearer IGT:2:${Buffer.from(randomUUID()).toString("base64")}`
      tokens.set(token, account.username)
      return token
    },
    whoHas: (token: string | undefined) => accounts.get(tokens.get(token ?? "") ?? ""),
    closeAll: () => tokens.clear()
  }
}

export type World = ReturnType<typeof makeWorld>
