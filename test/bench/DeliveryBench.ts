import { SqlClient } from "@effect/sql"
import { Array, Clock, Duration, Effect, Logger, LogLevel, Option, Redacted, Schedule } from "effect"
import { nextId } from "../../src/kit/Id.ts"
import { DatabaseAddress } from "../../src/sql/Database.ts"
import type { Owner } from "../../src/webhook/domain/Webhook.ts"
import { Endpoints } from "../../src/webhook/Endpoints.ts"
import { Outbox } from "../../src/webhook/Outbox.ts"
import { bareSender, bullmqSender, type Job, pgBossSender, type Sender } from "./Senders.ts"
import { callers, countAt, dataOf, event, newEvents, program, receiver } from "./WebhookBench.ts"

const events = 4_000
const together = 20
/** The first round of each side is for the compiler and does not count. */
const rounds = 3
const deadBacklog = 10_000

/** Events per second, and processor microseconds of this process for each. */
interface Figure {
  readonly rate: number
  readonly cpu: number
}

const measured = <E, R>(effect: Effect.Effect<unknown, E, R>) =>
  Effect.gen(function* () {
    const before = process.cpuUsage()
    const [time] = yield* Effect.timed(effect)
    const { system, user } = process.cpuUsage(before)
    return { rate: events / Duration.toSeconds(time), cpu: (system + user) / events } satisfies Figure
  })

const best = (figures: ReadonlyArray<Figure>): Figure =>
  figures.slice(1).reduce((one, other) => (one.rate > other.rate ? one : other), { rate: 0, cpu: 0 })

const register = (owner: Owner, url: string) =>
  Effect.flatMap(Endpoints, (endpoints) =>
    endpoints.create({
      owner,
      url,
      events: ["*"],
      retryCount: 5,
      timeoutSeconds: 10,
      maxPerSecond: Option.none(),
      isOrdered: false
    })
  )

const newOwner = Effect.map(nextId, (id): Owner => ({ kind: "account", id }))

const owners = (count: number, origin: string) =>
  Effect.forEach(Array.range(1, count), (nth) =>
    Effect.gen(function* () {
      const owner = yield* newOwner
      return { owner, url: `${origin}/hook/${nth}`, secret: (yield* register(owner, `${origin}/hook/${nth}`)).secret }
    })
  )
/** Around and around. */
const at = <A>(all: ReadonlyArray<A>, nth: number): A => Array.unsafeGet(all, nth % all.length)

type Target = Effect.Effect.Success<ReturnType<typeof owners>>[number]

const arrived = (origin: string, count: number) =>
  Effect.repeat(countAt(origin), { until: (now) => now >= count, schedule: Schedule.spaced("10 millis") })

const settled = (targets: ReadonlyArray<Target>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const ids = targets.map(({ owner }) => owner.id)
    yield* Effect.repeat(
      sql`SELECT 1 FROM webhook_deliveries WHERE owner_id = ANY(${ids}::uuid[]) AND due_at IS NOT NULL LIMIT 1`,
      { until: (rows) => rows.length === 0, schedule: Schedule.spaced("10 millis") }
    )
  })

/** From the first commit until the last outcome is written back. */
const ours = (targets: ReadonlyArray<Target>, origin: string) =>
  Effect.gen(function* () {
    const outbox = yield* Outbox
    const before = yield* countAt(origin)
    const accept = (nth: number) =>
      Effect.gen(function* () {
        const batch = yield* Effect.forEach(
          Array.makeBy(together, (index) => nth * together + index),
          (one) => newEvents(at(targets, one).owner, [one])
        )
        yield* outbox.transaction(outbox.publish(batch.flat()))
      })
    return yield* measured(
      Effect.forEach(Array.range(1, events / together), accept, { concurrency: callers, discard: true }).pipe(
        Effect.zipRight(arrived(origin, before + events)),
        Effect.zipRight(settled(targets))
      )
    )
  })

const jobs = (targets: ReadonlyArray<Target>): ReadonlyArray<Job> =>
  Array.makeBy(events, (nth) => {
    const { owner, url } = at(targets, nth)
    const timestamp = new Date().toISOString()
    return { url, event, body: JSON.stringify({ event, account_id: owner.id, timestamp, data: dataOf(nth) }) }
  })

const bare = (targets: ReadonlyArray<Target>, concurrency: number) =>
  Effect.gen(function* () {
    const sender = bareSender(at(targets, 0).secret, concurrency)
    const figure = yield* measured(Effect.promise(() => sender.run(jobs(targets))))
    yield* Effect.promise(() => sender.close())
    return figure
  })

const peer = (sender: Sender, targets: ReadonlyArray<Target>, origin: string) =>
  Effect.gen(function* () {
    const before = yield* countAt(origin)
    const all = jobs(targets)
    const accept = (nth: number) => Effect.promise(() => sender.accept(all.slice(nth * together, (nth + 1) * together)))
    return yield* measured(
      Effect.forEach(Array.range(0, events / together - 1), accept, { concurrency: callers, discard: true }).pipe(
        Effect.zipRight(arrived(origin, before + events))
      )
    )
  })

const row = (name: string, mine: Figure, other: Figure, asked: string) =>
  console.log(
    `| ${name} | ${other.rate.toFixed(0)} (${other.cpu.toFixed(0)} µs) | ${mine.rate.toFixed(0)} (${mine.cpu.toFixed(0)} µs) | ` +
      `**${(mine.rate / other.rate).toFixed(2)}** | ${asked} |`
  )

const alternating = <A, B, E, R>(one: Effect.Effect<A, E, R>, other: Effect.Effect<B, E, R>) =>
  Effect.map(
    Effect.forEach(Array.range(1, rounds), () => Effect.all([one, other])),
    (all) => [all.map(([first]) => first), all.map(([, second]) => second)] as const
  )

/** 99th percentile of event → first attempt at half the rate, an event in a transaction of its own. */
const latency = (origin: string, perSecond: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const outbox = yield* Outbox
    const targets = yield* owners(1, origin)
    const { owner } = at(targets, 0)
    const until = (yield* Clock.currentTimeMillis) + 6_000
    const started = yield* Clock.currentTimeMillis
    let told = 0
    const tick = Effect.gen(function* () {
      const wanted = Math.floor((((yield* Clock.currentTimeMillis) - started) / 1000) * perSecond)
      yield* Effect.forEach(
        Array.makeBy(Math.max(0, wanted - told), (nth) => told + nth),
        (nth) => Effect.flatMap(newEvents(owner, [nth]), (batch) => outbox.transaction(outbox.publish(batch))),
        { concurrency: callers, discard: true }
      )
      told = Math.max(told, wanted)
      yield* Effect.sleep("2 millis")
      return yield* Clock.currentTimeMillis
    })
    yield* Effect.repeat(tick, { until: (now) => now > until })
    yield* settled(targets)
    const rows = yield* sql<{ readonly p50: number; readonly p99: number }>`
      SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY wait) AS p50, percentile_cont(0.99) WITHIN GROUP (ORDER BY wait) AS p99
      FROM (
        SELECT extract(epoch FROM a.started_at - e.created_at)::float8 * 1000 AS wait
        FROM webhook_deliveries d JOIN webhook_events e ON e.id = d.event_id JOIN webhook_attempts a ON a.delivery_id = d.id
        WHERE d.owner_id = ${owner.id} AND a.number = 1 AND e.created_at > ${new Date(started + 1_000)}) AS waits`
    return at(rows, 0)
  })

const bench = Effect.gen(function* () {
  const { origin } = yield* receiver
  const { url } = yield* DatabaseAddress
  const one = yield* owners(1, origin)
  const many = yield* owners(1000, origin)
  console.log("| row | baseline | ours | ratio | asked |\n|---|---|---|---|---|")

  const [mine, loop] = yield* alternating(ours(one, origin), bare(one, 32))
  row("committed → settled, 1 endpoint, against a bare loop with 32 at a time", best(mine), best(loop), "at least 0.4")
  const [spread, wide] = yield* alternating(ours(many, origin), bare(many, 1024))
  row("the same over 1,000 endpoints, 1,024 at a time", best(spread), best(wide), "at least 0.3")

  const { secret } = at(one, 0)
  const boss = yield* Effect.promise(() => pgBossSender(Redacted.value(url), secret, 32))
  const [against, bossed] = yield* alternating(ours(one, origin), peer(boss, one, origin))
  row("committed → settled, 1 endpoint, against a sender on pg-boss", best(against), best(bossed), "at least 2")
  yield* Effect.promise(() => boss.close())
  const redisUrl = process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379"
  const bull = yield* Effect.promise(() => bullmqSender(Redacted.value(url), redisUrl, secret, 32))
  const [beside, bulled] = yield* alternating(ours(one, origin), peer(bull, one, origin))
  row("committed → settled, 1 endpoint, against a sender on BullMQ", best(beside), best(bulled), "at least 2")
  yield* Effect.promise(() => bull.close())

  const { p50, p99 } = yield* latency(origin, best(mine).rate / 4)
  console.log(
    `| event → first attempt at half load, single events, ms | | p50 ${p50.toFixed(1)} | p99 **${p99.toFixed(1)}** | under 50 |`
  )

  const sql = yield* SqlClient.SqlClient
  const dead = yield* newOwner
  const { endpoint } = yield* register(dead, "http://127.0.0.1:9/")
  const outbox = yield* Outbox
  const kill = Effect.gen(function* () {
    for (let nth = 0; nth < deadBacklog; nth += 1000) {
      yield* outbox.publish(
        yield* newEvents(
          dead,
          Array.makeBy(1000, (index) => nth + index)
        )
      )
    }
  })
  const revive = sql`UPDATE webhook_deliveries SET state = 'canceled', due_at = NULL WHERE endpoint_id = ${endpoint.id} AND due_at IS NOT NULL`
  const [calm, beset] = yield* alternating(
    ours(many, origin),
    Effect.zipLeft(Effect.zipRight(kill, ours(many, origin)), revive)
  )
  row(`1,000 endpoints beside one that is dead with ${deadBacklog} due`, best(beset), best(calm), "at least 0.95")
}).pipe(Effect.scoped, Effect.provide(program), Logger.withMinimumLogLevel(LogLevel.Error), Effect.orDie)

await Effect.runPromise(bench)
