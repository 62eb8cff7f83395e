import { randomBytes } from "node:crypto"
import { readFileSync } from "node:fs"
import { Effect, Schedule } from "effect"
import { Client } from "pg"
import { WebSocket } from "undici"
import { call } from "../support/Api.ts"
import * as Gatehouse from "../support/Gatehouse.ts"

const at = process.env["DATABASE_URL"] || "postgres://postgres@127.0.0.1:5432/test"

export const query = (url: string, statement: string, values: ReadonlyArray<unknown> = []) =>
  Effect.promise(async () => {
    const client = new Client({ connectionString: url })
    await client.connect()
    try {
      return (await client.query<Record<string, unknown>>(statement, [...values])).rows
    } finally {
      await client.end()
    }
  })

/** A database of its own, for as long as the scope lives. */
export const database = Effect.gen(function* () {
  const name = `gatehouse_channels_${randomBytes(4).toString("hex")}`
  yield* Effect.acquireRelease(query(at, `CREATE DATABASE ${name}`), () =>
    query(at, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  )
  const own = new URL(at)
  own.pathname = `/${name}`
  return own.href
})

export const migrated = (env: Readonly<Record<string, string>>) =>
  Effect.flatMap(Gatehouse.run(["migrate"], { ...Gatehouse.secrets, ...env }), ({ exit }) => exit)

const simulators = ["store-a", "store-b", "provider", "platform-a", "platform-b"]

/** The simulator of one platform, in a process of its own. */
export const simulator = Effect.fn(function* (platform: "platform-a" | "platform-b") {
  const port = yield* Gatehouse.freePort
  const url = `http://127.0.0.1:${port}`
  const others = simulators.filter((name) => name !== platform).flatMap((name) => [`--${name}-port`, "0"])
  const child = yield* Gatehouse.run(["simulate", `--${platform}-port`, String(port), ...others], {})
  yield* Effect.retry(
    Effect.tryPromise(() => fetch(url)),
    Schedule.spaced("200 millis")
  ).pipe(Effect.timeout("30 seconds"))
  return { url, pid: child.process.pid ?? 0 }
})

export const residentKilobytes = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0)

/** Seconds of processor time that a process has had. */
export const cpuSeconds = (pid: number) => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ")
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** Settings that let a process be asked for its memory. */
export const inspected = Effect.map(Gatehouse.freePort, (port) => ({
  port,
  env: { NODE_OPTIONS: `--inspect=127.0.0.1:${port}` }
}))

/** Kilobytes that an inspected process holds after a collection of garbage: its heap and what lies beside it. */
export const heldKilobytes = (port: number) =>
  Effect.flatMap(call("GET", `http://127.0.0.1:${port}/json`), ({ body }) =>
    Effect.promise(async () => {
      const socket = new WebSocket(body[0].webSocketDebuggerUrl)
      await new Promise((resolve) => socket.addEventListener("open", resolve))
      let last = 0
      const ask = (method: string, params: object = {}) =>
        new Promise<any>((resolve) => {
          const id = ++last
          socket.addEventListener("message", ({ data }) => {
            const answer = JSON.parse(String(data))
            if (answer.id === id) resolve(answer.result)
          })
          socket.send(JSON.stringify({ id, method, params }))
        })
      await ask("HeapProfiler.collectGarbage")
      await ask("HeapProfiler.collectGarbage")
      const expression = "JSON.stringify(process.memoryUsage())"
      const { result } = await ask("Runtime.evaluate", { expression })
      socket.close()
      const { external, heapUsed } = JSON.parse(result.value)
      return (heapUsed + external) / 1024
    })
  )

export interface Result {
  readonly name: string
  readonly measured: string
  readonly asked: string
  readonly isMet: boolean
}

/** A table of what was measured; a bound that was missed makes the run a failed one. */
export const report = (title: string, results: ReadonlyArray<Result>) =>
  Effect.sync(() => {
    const rows = results.map(
      ({ asked, isMet, measured, name }) => `| ${name} | ${measured} | ${asked} | ${isMet ? "pass" : "**FAIL**"} |`
    )
    process.stdout.write(`| ${title} | measured | asked | |\n|---|---|---|---|\n${rows.join("\n")}\n`)
    if (results.some(({ isMet }) => !isMet)) process.exitCode = 1
  })
