import { Effect } from "effect"
import { call } from "../support/Api.ts"
import * as Gatehouse from "../support/Gatehouse.ts"
import { crowd, insert, operatorToken } from "./Crowd.ts"
import { heldKilobytes, inspected, query, residentKilobytes } from "./Processes.ts"

const waiting = Number(process.env["REPLY_WAITING"] ?? 5_000)
const size = { accounts: 20, threads: waiting / 20, items: 1 }

/** What replies that wait in their delay cost, over the same program when as many messages were stored and not answered. */
export const waitingReplies = Effect.fn(function* (sides: {
  readonly databaseUrl: string
  readonly platform: string
  readonly env: Readonly<Record<string, string>>
}) {
  const { databaseUrl, env, platform } = sides
  const inspector = yield* inspected
  const program = yield* Gatehouse.serve({ ...env, ...inspector.env })
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
    const held = (yield* heldKilobytes(inspector.port)) / 1024
    return { held, resident: residentKilobytes(pid) / 1024 }
  })
  const before = yield* written({ enabled: false }, "skipped")
  const after = yield* written({ enabled: true, reply_delay_seconds: 300 }, "generated")
  return { waiting, held: after.held - before.held, resident: after.resident - before.resident }
})
