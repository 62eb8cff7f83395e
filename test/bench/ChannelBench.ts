import { NodeRuntime } from "@effect/platform-node"
import { Array, Console, Effect, Logger, LogLevel, Redacted } from "effect"
import { Seal } from "../../src/kit/Seal.ts"
import { call } from "../support/Api.ts"
import * as Gatehouse from "../support/Gatehouse.ts"
import { crowd, insert, type Seeded } from "./Crowd.ts"
import { cpuSeconds, database, migrated, query, report, residentKilobytes, simulator } from "./Processes.ts"

/** `CHANNELS` connected channels of platform_b in one process, polled for `CHANNEL_SECONDS` at the usual interval. */
const channels = Number(process.env["CHANNELS"] ?? 10_000)
const warmUp = Number(process.env["CHANNEL_WARM_UP"] ?? 60)
const seconds = Number(process.env["CHANNEL_SECONDS"] ?? 60)
const chats = { threads: 3, items: 3 }
const bounds = { lateness: 2, kilobytes: 60, ratio: 3 }

/** Microseconds of processor time for one fetch of an inbox, body read. */
const bareFetch = (url: string, { authorization }: Seeded) =>
  Effect.promise(async () => {
    const inbox = `${url}/api/v1/direct_v2/inbox/?visual_message_return_type=unseen&thread_message_limit=10&limit=20`
    const lane = async (times: number) => {
      for (let count = 0; count < times; count += 1) {
        await fetch(inbox, { headers: { authorization } }).then((response) => response.json())
      }
    }
    await lane(1_000)
    const before = process.cpuUsage()
    await Promise.all(Array.makeBy(8, () => lane(500)))
    const { system, user } = process.cpuUsage(before)
    return (system + user) / 4_000
  })

const figures = (url: string) =>
  Effect.map(call("GET", `${url}/metrics`), ({ body }) => {
    const text = String(body)
    const value = (name: RegExp) =>
      [...text.matchAll(name)].map(([, bound, count]) => [bound ?? "", Number(count)] as const)
    return {
      polls: value(/^gatehouse_channel_polls_total\{[^}]*result="(ok)"[^}]*\} (\d+)/gm)[0]?.[1] ?? 0,
      lateness: value(/^gatehouse_channel_poll_lateness_seconds_bucket\{[^}]*le="([^"]+)"[^}]*\} (\d+)/gm)
    }
  })
type Figures = Effect.Effect.Success<ReturnType<typeof figures>>

/** The bound under which that share of the polls in between stayed. */
const quantile = (before: Figures, after: Figures, share: number) => {
  const counts = after.lateness.map(
    ([bound, count], index) => [bound, count - (before.lateness[index]?.[1] ?? 0)] as const
  )
  const all = counts.at(-1)?.[1] ?? 0
  return Number(counts.find(([, count]) => count >= share * all)?.[0]?.replace("+Inf", "Infinity") ?? Infinity)
}

const bench = Effect.gen(function* () {
  const databaseUrl = yield* database
  const { pid: simulatorPid, url: platform } = yield* simulator("platform-b")
  const env = { DATABASE_URL: databaseUrl, PLATFORM_B_URL: platform, LOG_LEVEL: "error" }
  yield* migrated(env)
  const seeded = yield* crowd(platform, { accounts: channels, ...chats })
  yield* insert(databaseUrl, seeded, Date.now())
  yield* Console.error(`${channels} channels seeded`)
  const bare = yield* bareFetch(platform, seeded[0] ?? { username: "", pk: "", authorization: "" })

  const base = yield* Effect.scoped(
    Effect.gen(function* () {
      const idle = yield* Gatehouse.serve(env)
      yield* Effect.sleep("5 seconds")
      return residentKilobytes(idle.process.pid ?? 0)
    })
  )
  yield* query(databaseUrl, "UPDATE channels SET status = 'connected'")
  const program = yield* Gatehouse.serve(env)
  const pid = program.process.pid ?? 0
  yield* Effect.sleep(`${warmUp} seconds`)
  const [before, cpuBefore, simulatorBefore] = [yield* figures(program.url), cpuSeconds(pid), cpuSeconds(simulatorPid)]
  const queries =
    "SELECT calls FROM (SELECT sum(xact_commit)::int AS calls FROM pg_stat_database WHERE datname = current_database()) s"
  const transactionsBefore = Number((yield* query(databaseUrl, queries))[0]?.["calls"])
  yield* Effect.sleep(`${seconds} seconds`)
  const [after, cpuAfter, simulatorAfter] = [yield* figures(program.url), cpuSeconds(pid), cpuSeconds(simulatorPid)]
  const transactions = Number((yield* query(databaseUrl, queries))[0]?.["calls"]) - transactionsBefore
  const polls = after.polls - before.polls
  const poll = ((cpuAfter - cpuBefore) * 1_000_000) / polls
  const perChannel = (residentKilobytes(pid) - base) / channels
  const late = quantile(before, after, 0.99)
  yield* report(`${channels} channels of platform_b`, [
    {
      name: "polls a second",
      measured: (polls / seconds).toFixed(0),
      asked: `${(channels / 20).toFixed(0)} are due`,
      isMet: polls / seconds > (channels / 20) * 0.9
    },
    {
      name: "lateness of an answered poll, p50 / p99, at most s",
      measured: `${quantile(before, after, 0.5)} / ${late}`,
      asked: `< ${bounds.lateness}`,
      isMet: late <= bounds.lateness
    },
    {
      name: "memory over base, kB a channel",
      measured: `${perChannel.toFixed(1)} (base ${(base / 1024).toFixed(0)} MB)`,
      asked: `< ${bounds.kilobytes}`,
      isMet: perChannel < bounds.kilobytes
    },
    {
      name: "CPU of a poll / of a bare fetch, us",
      measured: `${poll.toFixed(0)} / ${bare.toFixed(0)} = ${(poll / bare).toFixed(2)}`,
      asked: `<= ${bounds.ratio}`,
      isMet: poll / bare <= bounds.ratio
    },
    {
      name: "transactions a poll",
      measured: (transactions / polls).toFixed(3),
      asked: "<= 1",
      isMet: transactions <= polls
    },
    {
      name: "CPU of the simulator, us a poll",
      measured: (((simulatorAfter - simulatorBefore) * 1_000_000) / polls).toFixed(0),
      asked: "",
      isMet: true
    }
  ])
})

NodeRuntime.runMain(
  bench.pipe(
    Effect.scoped,
    Effect.provide(Seal.layer([Redacted.make(Buffer.from(Gatehouse.secrets.ENCRYPTION_KEY, "base64"))])),
    Logger.withMinimumLogLevel(LogLevel.Warning)
  )
)
