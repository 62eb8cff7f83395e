import { NodeRuntime } from "@effect/platform-node"
import { Array, Console, Duration, Effect, Logger, LogLevel, Redacted } from "effect"
import { Agent, request } from "undici"
import { Seal } from "../../src/kit/Seal.ts"
import { call } from "../support/Api.ts"
import * as Gatehouse from "../support/Gatehouse.ts"
import { crowd, databaseCpuSeconds, insert, operatorToken, type Seeded, simulator } from "./Crowd.ts"
import { cpuSeconds, database, query, report } from "./Processes.ts"
import { waitingReplies } from "./WaitingReplies.ts"

/** So many chats over so many channels, in each of which so many messages wait for an answer. */
const chats = Number(process.env["REPLY_CHATS"] ?? 1_000)
const accounts = Number(process.env["REPLY_CHANNELS"] ?? 50)
const size = { accounts, threads: chats / accounts, items: Number(process.env["REPLY_MESSAGES"] ?? 3) }
const replies = size.accounts * size.threads * size.items
/** The first round is for the compiler and does not count. */
const rounds = Number(process.env["REPLY_ROUNDS"] ?? 3)
/** The bare loop makes one reply after the other; so many of them at a time show what the machine could do. */
const crew = 32
/** Replies that each of the two makes before and after a round. */
const bareReplies = { loop: Math.ceil(replies / 3), crew: replies }
const asked = { ratio: 0.3, megabytes: 50 }
const words = "Yes, we are."
/** `speed` or `memory`, else both. */
const part = process.env["REPLY_PART"]

const unpaced = { gap_seconds: [0, 0], per_minute: null, per_hour: null, per_day: null, new_chats_per_day: null }

interface Sides {
  readonly databaseUrl: string
  readonly platform: string
  readonly provider: string
  readonly program: Gatehouse.Gatehouse
  readonly simulatorPid: number
  readonly token: string
}

const threadsOf = (platform: string, seeded: ReadonlyArray<Seeded>) =>
  Effect.map(call("GET", `${platform}/_control/threads`), ({ body }) => {
    const own = new Map(seeded.map((account) => [account.username, account]))
    const threads: ReadonlyArray<{
      readonly thread_id: string
      readonly members: ReadonlyArray<string>
      readonly items: ReadonlyArray<{ readonly from: string; readonly text: string }>
    }> = body
    return threads.flatMap(({ items, members, thread_id }) =>
      members.flatMap((name) => {
        const account = own.get(name)
        return account === undefined ? [] : [{ account, threadId: thread_id, items }]
      })
    )
  })

/** New channels whose chats hold messages that nobody has answered, known to the program and not connected yet. */
const written = Effect.fn(function* ({ databaseUrl, platform, program, token }: Sides) {
  const baseline = Date.now() - 1
  const seeded = yield* crowd(platform, size)
  const ids = yield* insert(databaseUrl, seeded, baseline)
  yield* Effect.forEach(ids, (id) => call("PUT", `${program.url}/v1/accounts/${id}/pacing`, { token, body: unpaced }))
  return { seeded, ids }
})

/** From the first message that is stored to the last reply that is noted as sent. */
const ours = Effect.fn(function* (sides: Sides) {
  const { databaseUrl, platform, program, simulatorPid, token } = sides
  const { ids, seeded } = yield* written(sides)
  const cpuNow = () => [cpuSeconds(program.process.pid ?? 0), databaseCpuSeconds(databaseUrl), cpuSeconds(simulatorPid)]
  const before = cpuNow()
  yield* Effect.forEach(ids, (id) => call("POST", `${program.url}/v1/accounts/${id}/connect`, { token, body: {} }), {
    concurrency: 4
  })
  const sent = query(
    databaseUrl,
    `SELECT count(*) FILTER (WHERE status = 'sent')::int AS sent, count(*) FILTER (WHERE status IN ('failed', 'skipped'))::int
       AS lost FROM ai_logs WHERE account_id = ANY($1)`,
    [ids]
  )
  const counted = sent.pipe(
    Effect.delay("200 millis"),
    Effect.repeat({ until: ([row]) => row?.["sent"] === replies || row?.["lost"] !== 0 })
  )
  yield* Effect.timeout(counted, "5 minutes")
  const [span] = yield* query(
    databaseUrl,
    `SELECT extract(epoch FROM max(e.created_at) - (SELECT min(created_at) FROM ai_logs WHERE account_id = ANY($1)))::float8 AS seconds
     FROM webhook_events e WHERE e.owner_id = ANY($1) AND e.event = 'ai.reply.sent'`,
    [ids]
  )
  const cpu = cpuNow().map((after, index) => ((after - (before[index] ?? 0)) * 1_000_000) / replies)
  yield* Effect.forEach(ids, (id) => call("POST", `${program.url}/v1/accounts/${id}/disconnect`, { token, body: {} }), {
    concurrency: 4
  })
  const threads = yield* threadsOf(platform, seeded)
  const wrong = threads.filter(({ items }) => items.filter(({ text }) => text === words).length !== size.items)
  if (wrong.length > 0) {
    const fates = yield* query(
      databaseUrl,
      "SELECT status, reason, detail, count(*)::int FROM ai_logs GROUP BY 1, 2, 3"
    )
    return yield* Effect.dieMessage(
      `${wrong.length} chats were not answered as they should be: ${JSON.stringify(fates)}`
    )
  }
  return { rate: replies / Number(span?.["seconds"]), cpu }
})

/** The same calls, one provider call and one send for each reply, and nothing else: replies per second of so many lanes. */
const bare = Effect.fn(function* ({ platform, provider }: Sides, lanes: number, count: number) {
  const seeded = yield* crowd(platform, { ...size, items: 1 })
  const threads = yield* threadsOf(platform, seeded)
  const agent = new Agent({ connections: lanes })
  const post = async (url: string, headers: Record<string, string>, body: string) => {
    const answer = await request(url, { method: "POST", headers, body, dispatcher: agent })
    return answer.body.json()
  }
  const reply = async (nth: number) => {
    const { account, threadId } = Array.unsafeGet(threads, nth % threads.length)
    const ask = { model: "m", messages: [{ role: "user", content: "message 0" }] }
    const json = { "content-type": "application/json", authorization: "Bearer sk-bench" }
    const answer: any = await post(`${provider}/chat/completions`, json, JSON.stringify(ask))
    const form = new URLSearchParams({
      action: "send_item",
      thread_ids: `[${threadId}]`,
      text: answer.choices[0].message.content,
      client_context: crypto.randomUUID()
    })
    const headers = { "content-type": "application/x-www-form-urlencoded", authorization: account.authorization }
    await post(`${platform}/api/v1/direct_v2/threads/broadcast/text/`, headers, form.toString())
  }
  let next = 0
  const lane = async () => {
    while (next < count) await reply(next++)
  }
  const [time] = yield* Effect.timed(Effect.promise(() => Promise.all(Array.makeBy(lanes, lane))))
  yield* Effect.promise(() => agent.close())
  return count / Duration.toSeconds(time)
})

const bares = Effect.fn(function* (sides: Sides) {
  return { loop: yield* bare(sides, 1, bareReplies.loop), crew: yield* bare(sides, crew, bareReplies.crew) }
})

const mean = (figures: ReadonlyArray<number>) => figures.reduce((sum, one) => sum + one, 0) / figures.length

interface Setting {
  readonly databaseUrl: string
  readonly platform: string
  readonly env: Readonly<Record<string, string>>
}

const speed = Effect.fn(function* (setting: Setting, provider: string, simulatorPid: number) {
  const program = yield* Gatehouse.serve(setting.env)
  const token = yield* operatorToken(program.url)
  yield* call("PUT", `${program.url}/v1/ai/global`, {
    token,
    body: { enabled: true, reply_delay_seconds: 0, timeout_seconds: 120 }
  })
  const sides: Sides = { ...setting, provider, program, simulatorPid, token }
  const results = yield* Effect.forEach(Array.range(1, rounds), (round) =>
    Effect.gen(function* () {
      const before = yield* bares(sides)
      const mine = yield* ours(sides)
      const after = yield* bares(sides)
      const loop = mean([before.loop, after.loop])
      const many = mean([before.crew, after.crew])
      const [own, database, simulated] = mine.cpu.map((cpu) => cpu.toFixed(0))
      yield* Console.error(
        `round ${round}: ${mine.rate.toFixed(0)}/s against ${loop.toFixed(0)}/s, and ${many.toFixed(0)}/s by ${crew}; ` +
          `CPU of a reply, us: ${own}, of the database ${database}, of the simulator ${simulated}`
      )
      return { ours: mine.rate, loop, many }
    })
  )
  const counted = results.slice(1)
  const beside = (other: "loop" | "many") => {
    const ratio = mean(counted.map((round) => round.ours / round[other]))
    const [mine, bare] = [mean(counted.map(({ ours }) => ours)), mean(counted.map((round) => round[other]))]
    return { ratio, measured: `${mine.toFixed(0)}/s of ${bare.toFixed(0)}/s: ${ratio.toFixed(2)}` }
  }
  const [loop, many] = [beside("loop"), beside("many")]
  return [
    {
      name: `replies over ${chats} chats, beside a bare loop`,
      measured: loop.measured,
      asked: `at least ${asked.ratio}`,
      isMet: loop.ratio >= asked.ratio
    },
    {
      name: `the same beside ${crew} such loops at a time`,
      measured: many.measured,
      asked: "nothing",
      isMet: true
    }
  ]
}, Effect.scoped)

const memory = Effect.fn(function* (setting: Setting) {
  const { held, resident, waiting } = yield* waitingReplies(setting)
  return [
    {
      name: `${waiting} replies that wait in their delay`,
      measured: `${resident.toFixed(0)} MB resident, ${held.toFixed(1)} MB held`,
      asked: `under ${asked.megabytes} MB`,
      isMet: resident < asked.megabytes
    }
  ]
}, Effect.scoped)

const bench = Effect.gen(function* () {
  const databaseUrl = yield* database
  const { pid, provider, url: platform } = yield* simulator
  yield* call("POST", `${provider.replace("/v1", "")}/_control/answers`, {
    body: { content: words, times: 10_000_000 }
  })
  const env = {
    DATABASE_URL: databaseUrl,
    PLATFORM_B_URL: platform,
    PLATFORM_B_POLL_SECONDS: "5",
    LOG_LEVEL: "error",
    AI_API_KEY: "sk-bench",
    AI_BASE_URL: provider
  }
  const setting = { databaseUrl, platform, env }
  const parts = [
    ...(part === "memory" ? [] : [speed(setting, provider, pid)]),
    ...(part === "speed" ? [] : [memory(setting)])
  ]
  yield* report("replies", (yield* Effect.all(parts)).flat())
})

NodeRuntime.runMain(
  bench.pipe(
    Effect.scoped,
    Effect.provide(Seal.layer([Redacted.make(Buffer.from(Gatehouse.secrets.ENCRYPTION_KEY, "base64"))])),
    Logger.withMinimumLogLevel(LogLevel.Error)
  )
)
