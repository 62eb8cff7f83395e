import { randomUUID } from "node:crypto"

/** What an account meets on the platform, until it is changed (`Trouble.ts`). */
export type Condition =
  "well" | "banned" | "challenged" | "logged_out" | "rate_limited" | "blocked" | "outdated" | "away"

/** An account that a channel may log in to, with what its login asks for. */
export interface SimulatedAccount {
  readonly pk: string
  readonly username: string
  password: string
  twoFactorCode: string | undefined
  challengeCode: string | undefined
  /** What the challenge begins with: `select_verify_method`, `verify_code`, `delta_login_review` or what no client can do. */
  readonly challengeStep: string
  /** Whether passing the challenge opens a session, or a second login is needed. */
  readonly challengeSignsIn: boolean
  challengePassed: boolean
  isCodeSent: boolean
  condition: Condition
}

export interface SimulatedItem {
  readonly item_id: string
  readonly user_id: string
  /** Microseconds. */
  readonly timestamp: string
  readonly item_type: string
  readonly client_context: string | undefined
  readonly text?: string
}

/** Items are newest first; `pendingFor` are the accounts for which it is a request that they have not approved. */
export interface SimulatedThread {
  readonly thread_id: string
  readonly members: ReadonlyArray<string>
  readonly title: string | undefined
  readonly items: Array<SimulatedItem>
  readonly pendingFor: Set<string>
  readonly seen: Map<string, string>
}

export interface NewItem {
  readonly type?: string | undefined
  readonly text?: string | undefined
  readonly clientContext?: string | undefined
  /** Microseconds; the present when it is left out. */
  readonly timestamp?: string | undefined
  readonly fields?: Readonly<Record<string, unknown>> | undefined
}

export const sessionIn = (token: string | undefined): string => {
  const claims = Buffer.from((token ?? "").replace("Bearer IGT:2:", ""), "base64").toString()
  return /"sessionid":"([^"]+)"/.exec(claims)?.[1] ?? ""
}

/** The people, accounts and threads of the simulated platform. Ids exceed 2^53, as the real ones do. */
export const makeWorld = () => {
  const accounts = new Map<string, SimulatedAccount>()
  const names = new Map<string, string>()
  const people = new Map<string, string>()
  const threads = new Map<string, SimulatedThread>()
  const threadsOf = new Map<string, Set<SimulatedThread>>()
  const tokens = new Map<string, string>()
  const sessions = new Map<string, string>()
  const secondFactors = new Map<string, string>()
  let last = 17_000_000_000_000_000n
  let lastMicros = 0

  const nextId = () => String((last += 1_001n))
  const nextMicros = (now: number) => String((lastMicros = Math.max(lastMicros + 1, now * 1000)))

  const userOf = (pk: string) => {
    const username = names.get(pk) ?? pk
    return { pk, username, full_name: username }
  }

  const pkOf = (username: string) => accounts.get(username)?.pk ?? people.get(username)

  const personPk = (username: string) => {
    const known = pkOf(username)
    if (known !== undefined) return known
    const pk = nextId()
    people.set(username, pk)
    names.set(pk, username)
    return pk
  }

  const addAccount = (account: Omit<SimulatedAccount, "pk">): SimulatedAccount => {
    const added = { ...account, pk: nextId() }
    accounts.set(account.username, added)
    names.set(added.pk, account.username)
    return added
  }

  const open = (members: ReadonlyArray<string>, title?: string) => {
    const thread_id = nextId()
    const thread: SimulatedThread = { thread_id, members, title, items: [], pendingFor: new Set(), seen: new Map() }
    threads.set(thread_id, thread)
    for (const pk of members) threadsOf.set(pk, (threadsOf.get(pk) ?? new Set()).add(thread))
    return thread
  }

  const threadBetween = (left: string, right: string) =>
    [...(threadsOf.get(left) ?? [])].find(({ members, title }) => title === undefined && members.includes(right)) ??
    open([left, right])

  const write = (thread: SimulatedThread, author: string, now: number, item: NewItem): SimulatedItem => {
    const written = {
      ...item.fields,
      item_id: nextId(),
      user_id: author,
      timestamp: item.timestamp ?? nextMicros(now),
      item_type: item.type ?? "text",
      client_context: item.clientContext,
      ...(item.text === undefined ? {} : { text: item.text })
    }
    thread.items.unshift(written)
    thread.items.sort((left, right) => Number(right.timestamp) - Number(left.timestamp))
    return written
  }

  /** What an account sees in one of its two boxes, the latest activity first. */
  const box = (pk: string, isPending: boolean) =>
    [...(threadsOf.get(pk) ?? [])]
      .filter(({ items }) => items.length > 0)
      .filter(({ pendingFor }) => pendingFor.has(pk) === isPending)
      .sort((left, right) => Number(right.items[0]?.timestamp) - Number(left.items[0]?.timestamp))

  return {
    accounts,
    people,
    threads,
    secondFactors,
    nextId,
    userOf,
    pkOf,
    personPk,
    addAccount,
    open,
    threadBetween,
    write,
    box,
    threadOf: (pk: string, id: string) => {
      const thread = threads.get(id)
      return thread?.members.includes(pk) === true ? thread : undefined
    },
    /** The app's header carries the same session as the cookie of the web. */
    signIn: (account: SimulatedAccount) => {
      const sessionid = `${account.pk}%3A${randomUUID()}`
      const session = JSON.stringify({ ds_user_id: account.pk, sessionid })
      const token = `Bearer IGT:2:${Buffer.from(session).toString("base64")}`
      tokens.set(token, account.username)
      sessions.set(sessionid, account.username)
      return token
    },
    whoHas: (token: string | undefined) =>
      accounts.get(tokens.get(token ?? "") ?? sessions.get(sessionIn(token)) ?? ""),
    closeAll: () => {
      tokens.clear()
      sessions.clear()
    }
  }
}

export type World = ReturnType<typeof makeWorld>
