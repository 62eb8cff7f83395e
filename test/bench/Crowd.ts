import { existsSync, readdirSync, readFileSync } from "node:fs"
import { Effect, Schedule } from "effect"
import { nextId } from "../../src/kit/Id.ts"
import { Seal } from "../../src/kit/Seal.ts"
import * as SessionState from "../../src/platform/platform-b/SessionState.ts"
import { call } from "../support/Api.ts"
import * as Gatehouse from "../support/Gatehouse.ts"
import { cpuSeconds, query } from "./Processes.ts"

/** The simulated platform and provider, in a process of their own. */
export const simulator = Effect.gen(function* () {
  const [platformPort, providerPort] = [yield* Gatehouse.freePort, yield* Gatehouse.freePort]
  const url = `http://127.0.0.1:${platformPort}`
  const ports = { "platform-b": platformPort, provider: providerPort, "store-a": 0, "store-b": 0, "platform-a": 0 }
  const args = Object.entries(ports).flatMap(([name, port]) => [`--${name}-port`, String(port)])
  const child = yield* Gatehouse.run(["simulate", ...args], {})
  const provider = `http://127.0.0.1:${providerPort}`
  yield* Effect.forEach([url, provider], (at) =>
    Effect.retry(
      Effect.tryPromise(() => fetch(`${at}/_control/requests`)),
      Schedule.spaced("200 millis")
    )
  ).pipe(Effect.timeout("60 seconds"))
  return { url, provider: `${provider}/v1`, pid: child.process.pid ?? 0 }
})

/** An account of the simulated platform that is signed in already. */
export interface Seeded {
  readonly username: string
  readonly pk: string
  readonly authorization: string
}

/** So many new accounts, each with chats in which other people have written. */
export const crowd = (url: string, size: { accounts: number; threads: number; items: number }) =>
  Effect.map(call("POST", `${url}/_control/crowd`, { body: size }), ({ body }): ReadonlyArray<Seeded> => body)

const rowOf = Effect.fn(function* ({ authorization, pk, username }: Seeded) {
  const id = yield* nextId
  const device = yield* SessionState.fresh
  const { seal } = yield* Seal
  const session = SessionState.seal({ ...device, authorization, userId: pk, username })
  return { id, name: username, username, session: yield* seal(session, id), digest: id }
})

/** Channels as a login and a `/disconnect` would have left them; what was written after `baseline` (milliseconds) is news. */
export const insert = Effect.fn(function* (databaseUrl: string, seeded: ReadonlyArray<Seeded>, baseline: number) {
  const rows = yield* Effect.forEach(seeded, rowOf)
  yield* query(
    databaseUrl,
    `INSERT INTO channels (id, name, platform, status, username, token_digest, session_sealed, login_count, poll_cursor,
       connected_at, created_at)
     SELECT r.id, r.name, 'platform_b', 'disconnected', r.username, r.digest, r.session, 1, $2, now(), now()
     FROM json_to_recordset($1) AS r(id uuid, name text, username text, session text, digest text)`,
    [JSON.stringify(rows), JSON.stringify({ baseline: baseline * 1_000, threads: {} })]
  )
  return rows.map(({ id }) => id)
})

const commandOf = (pid: string) => {
  const file = `/proc/${pid}/cmdline`
  return existsSync(file) ? readFileSync(file, "utf8") : ""
}

/** Seconds of processor time that the connections to a database of this machine have had. */
export const databaseCpuSeconds = (databaseUrl: string) => {
  const name = new URL(databaseUrl).pathname.slice(1)
  const pids = readdirSync("/proc").filter((pid) => /^\d+$/.test(pid))
  return pids
    .filter((pid) => commandOf(pid).includes(`postgres ${name} `))
    .reduce((sum, pid) => sum + cpuSeconds(Number(pid)), 0)
}

export const operatorToken = (url: string) =>
  Effect.map(
    call("POST", `${url}/v1/auth/login`, {
      body: { email: Gatehouse.secrets.OPERATOR_EMAIL, password: Gatehouse.secrets.OPERATOR_PASSWORD }
    }),
    ({ body }): string => body.data.token
  )
