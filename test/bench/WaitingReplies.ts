import { Effect } from "effect"
import { WebSocket } from "undici"
import { call } from "../support/Api.ts"
import * as Gatehouse from "../support/Gatehouse.ts"
import { crowd, insert, operatorToken } from "./Crowd.ts"
import { query, residentKilobytes } from "./Processes.ts"

const waiting = Number(process.env["REPLY_WAITING"] ?? 5_000)
const size = { accounts: 20, threads: waiting / 20, items: 1 }

/** Asks the inspector of a running program; garbage is collected first, so that the heap is what is held. */
const heapMegabytes = (port: number) =>
  Effect.promise(async () => {
    const targets: any = await (await fetch(`http://127.0.0.1:${port}/json`)).json()
    const socket = new WebSocket(targets[0].webSocketDebuggerUrl)
    await new Promise((resolve) => socket.addEventListener("open", resolve))
    const ask = (id: number, method: string) =>
      new Promise<any>((resolve) => {
        socket.addEventListener("message", ({ data }) => {
          const answer = JSON.parse(String(data))
          if (answer.id === id) resolve(answer.result)
        })
        socket.send(JSON.stringify({ id, method }))
      })
    await ask(1, "HeapProfiler.collectGarbage")
    const { usedSize } = await ask(2, "Runtime.getHeapUsage")
    socket.close()
    return Number(usedSize) / 1024 / 1024
  })

/** What replies that wait in their delay cost, over the same program when as many messages were stored and not answered. */
export const waitingReplies = Effect.fn(function* (sides: {
  readonly databaseUrl: string
  readonly platform: string
  readonly env: Readonly<Record<string, string>>
}) {
  const { databaseUrl, env, platform } = sides
  const port = yield* Gatehouse.freePort
  const program = yield* Gatehouse.serve({ ...env, NODE_OPTIONS: `--inspect=127.0.0.1:${port}` })
  const pid = program.process.pid ?? 0
  const token = yield* operatorToken(program.url)
  const written = Effect.fn(function* (settings: object, status: string) {
    yield* call("PUT", `${program.url}/v1/ai/global`, { token, body: settings })
    const baseline = Date.now() - 1
    const ids = yield* insert(databaseUrl, yield* crowd(platform, size), baseline)
    yield* Effect.forEach(ids, (id) => call("POST", `${program.url}/v1/accounts/${id}/connect`, { token, body: {} }))
    const count = query(
      databaseUrl,
      "SELECT count(*)::int AS n FROM ai_logs WHERE account_id = ANY($1) AND status = $2",
      [ids, status]
    )
    yield* count.pipe(Effect.delay("500 millis"), Effect.repeat({ until: ([row]) => row?.["n"] === waiting }))
    yield* Effect.sleep("2 seconds")
    const heap = yield* heapMegabytes(port)
    return { heap, resident: residentKilobytes(pid) / 1024 }
  })
  const before = yield* written({ enabled: false }, "skipped")
  const after = yield* written({ enabled: true, reply_delay_seconds: 300 }, "generated")
  return { waiting, heap: after.heap - before.heap, resident: after.resident - before.resident }
})
