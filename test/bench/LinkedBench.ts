import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { NodeRuntime } from "@effect/platform-node"
import { Array, Data, Effect, Logger, LogLevel, Schedule } from "effect"
import { call } from "../support/Api.ts"
import * as Gatehouse from "../support/Gatehouse.ts"
import { cpuSeconds, database, heldKilobytes, inspected, migrated, query, report, simulator } from "./Processes.ts"

/** `SESSIONS` channels that are linked to phones, and one more that both sides are measured without. */
const sessions = Number(process.env["SESSIONS"] ?? 100)
const messages = Number(process.env["LINKED_MESSAGES"] ?? 300)
const bounds = { ratio: 1.3, p50: 50, p99: 200 }
const ours = 491_700_000_000
const bare = 491_800_000_000
const ann = "491900000001"
const bareScript = "node_modules/.cache/bare-sockets.mjs"

interface Platform {
  readonly url: string
  readonly socketUrl: string
}

class NotConnected extends Data.TaggedError("NotConnected")<{ readonly wanted: number }> {}

const settle = Effect.sleep("5 seconds")

/** Kilobytes that a process with so many bare sockets holds. */
const bareKilobytes = (platform: Platform, directory: string, count: number) =>
  Effect.gen(function* () {
    const { env, port } = yield* inspected
    const args = [bareScript, platform.socketUrl, platform.url, directory, String(bare), String(count)]
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(process.execPath, args, {
          env: { PATH: process.env["PATH"] ?? "", ...env },
          stdio: ["ignore", "pipe", "ignore"]
        })
      ),
      (started) => Effect.sync(() => started.kill("SIGKILL"))
    )
    yield* Effect.promise(
      () => new Promise((resolve) => child.stdout.on("data", (chunk) => String(chunk).includes("open") && resolve(0)))
    )
    yield* settle
    return yield* heldKilobytes(port)
  }).pipe(Effect.scoped)

const connected = (databaseUrl: string) =>
  Effect.map(query(databaseUrl, "SELECT count(*)::int AS channels FROM channels WHERE status = 'connected'"), ([row]) =>
    Number(row?.["channels"])
  )

const untilConnected = (databaseUrl: string, count: number) =>
  Effect.repeat(connected(databaseUrl), {
    schedule: Schedule.spaced("200 millis"),
    until: (found) => found === count
  }).pipe(Effect.timeoutFail({ duration: "60 seconds", onTimeout: () => new NotConnected({ wanted: count }) }))

const link = Effect.fn(function* (url: string, platform: Platform, hook: string) {
  const { OPERATOR_EMAIL: email, OPERATOR_PASSWORD: password } = Gatehouse.secrets
  const login = yield* call("POST", `${url}/v1/auth/login`, { body: { email, password } })
  const token: string = login.body.data.token
  const one = Effect.fn(function* (nth: number) {
    const account = yield* call("POST", `${url}/v1/accounts`, { token, body: { name: `Shop ${nth}` } })
    const at = `${url}/v1/accounts/${account.body.data.id}`
    yield* call("POST", `${at}/webhooks`, { token, body: { url: hook, events: ["message.received"] } })
    const connecting = yield* call("POST", `${at}/connect`, { token, body: {} })
    const body = { qr: connecting.body.data.qr, phone: String(ours + nth) }
    yield* call("POST", `${platform.url}/_control/scan`, { body })
  })
  yield* Effect.forEach(Array.range(0, sessions), one, { concurrency: 2, discard: true })
})

const at = (sorted: ReadonlyArray<number>, share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Infinity

/** Milliseconds from the call that makes the simulator write a message until the webhook has it whole, for each message. */
const latencies = Effect.fn(function* (
  platform: Platform,
  { arrivals }: { readonly arrivals: Map<string, number> },
  numbers: ReadonlyArray<number>
) {
  const begun = new Map<string, number>()
  const write = (nth: number) => {
    const text = `message ${nth}`
    begun.set(text, performance.now())
    const body = { from: ann, account: String(ours + (nth % (sessions + 1))), text }
    return call("POST", `${platform.url}/_control/messages`, { body })
  }
  yield* Effect.forEach(numbers, (nth) => Effect.zipLeft(write(nth), Effect.sleep("100 millis")), { discard: true })
  yield* Effect.repeat(
    Effect.sync(() => [...begun.keys()].every((text) => arrivals.has(text))),
    { schedule: Schedule.spaced("200 millis"), until: (isAll) => isAll }
  ).pipe(Effect.timeoutOption("20 seconds"))
  return [...begun].map(([text, from]) => (arrivals.get(text) ?? Infinity) - from).sort((left, right) => left - right)
})

/** A subscriber that notes when it has had each message whole. */
const receiver = Effect.acquireRelease(
  Effect.async<{ readonly url: string; readonly arrivals: Map<string, number>; readonly close: () => void }>(
    (resume) => {
      const arrivals = new Map<string, number>()
      const server = createServer((request, response) => {
        const chunks: Array<Buffer> = []
        request.on("data", (chunk: Buffer) => chunks.push(chunk))
        request.on("end", () => {
          const text = /"body":"(message \d+)"/.exec(Buffer.concat(chunks).toString("utf8"))?.[1]
          if (text !== undefined) arrivals.set(text, performance.now())
          response.writeHead(200).end()
        })
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        const close = () => (server.closeAllConnections(), void server.close())
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}/hook`, arrivals, close }))
      })
    }
  ),
  ({ close }) => Effect.sync(close)
)

const bench = Effect.gen(function* () {
  const { url } = yield* simulator("platform-a")
  const platform = { url, socketUrl: `${url.replace("http", "ws")}/ws/chat` }
  const databaseUrl = yield* database
  const hooks = yield* receiver
  const env = { DATABASE_URL: databaseUrl, PLATFORM_A_URL: platform.socketUrl, LOG_LEVEL: "error" }
  yield* migrated(env)
  const linking = Effect.scoped(
    Effect.gen(function* () {
      const program = yield* Gatehouse.serve(env)
      yield* link(program.url, platform, hooks.url)
      yield* untilConnected(databaseUrl, sessions + 1)
    })
  )
  const directory = mkdtempSync(join(tmpdir(), "gatehouse-bare-"))
  yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(directory, { recursive: true, force: true })))
  const bareHeld = (count: number) => bareKilobytes(platform, directory, count)
  yield* Effect.all([linking, bareHeld(sessions + 1)], { concurrency: 2 })

  const held = (count: number) =>
    Effect.gen(function* () {
      yield* query(databaseUrl, "UPDATE channels SET status = 'disconnected'")
      yield* query(
        databaseUrl,
        `UPDATE channels SET status = 'connecting' WHERE id IN (SELECT id FROM channels ORDER BY id LIMIT ${count})`
      )
      const { env: inspection, port } = yield* inspected
      const program = yield* Gatehouse.serve({ ...env, ...inspection })
      yield* untilConnected(databaseUrl, count)
      yield* settle
      return { kilobytes: yield* heldKilobytes(port), pid: program.process.pid ?? 0 }
    })
  const [[alone, all], [bareAlone, bareAll]] = yield* Effect.all(
    [Effect.all([Effect.scoped(held(1)), held(sessions + 1)]), Effect.all([bareHeld(1), bareHeld(sessions + 1)])],
    { concurrency: 2 }
  )
  yield* latencies(platform, hooks, Array.range(0, sessions))
  const cpuBefore = cpuSeconds(all.pid)
  const waits = yield* latencies(platform, hooks, Array.range(sessions + 1, sessions + messages))
  const cpu = ((cpuSeconds(all.pid) - cpuBefore) * 1_000) / messages

  const perSession = (all.kilobytes - alone.kilobytes) / sessions
  const perBare = (bareAll - bareAlone) / sessions
  const [p50, p99] = [at(waits, 0.5), at(waits, 0.99)]
  yield* report(`${sessions} sessions of platform_a`, [
    {
      name: "memory of a session / of a bare socket, kB",
      measured: `${perSession.toFixed(0)} / ${perBare.toFixed(0)} = ${(perSession / perBare).toFixed(2)}`,
      asked: `<= ${bounds.ratio}`,
      isMet: perSession / perBare <= bounds.ratio
    },
    {
      name: "message at the simulator → webhook received, p50 / p99, ms",
      measured: `${p50.toFixed(0)} / ${p99.toFixed(0)}`,
      asked: `< ${bounds.p50} / ${bounds.p99}`,
      isMet: p50 < bounds.p50 && p99 < bounds.p99
    },
    { name: "CPU of a message, ms", measured: cpu.toFixed(1), asked: "", isMet: true }
  ])
})

NodeRuntime.runMain(bench.pipe(Effect.scoped, Logger.withMinimumLogLevel(LogLevel.Warning)))
