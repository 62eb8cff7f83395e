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
const atOnce = 20
/** The first round of each side is for the compiler and does not count. */
const rounds = 5
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
      const [owner, url] = [yield* newOwner, `${origin}/hook/${nth}`]
      const { endpoint, secret } = yield* register(owner, url)
      return { owner, url, secret, endpointId: endpoint.id }
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
    const ids = targets.map(({ endpointId }) => endpointId)
    yield* Effect.repeat(
      sql`SELECT 1 FROM unnest(${ids}::uuid[]) AS target (id) CROSS JOIN LATERAL (
        SELECT FROM webhook_deliveries WHERE endpoint_id = target.id AND due_at IS NOT NULL LIMIT 1) AS due LIMIT 1`,
      { until: (rows) => rows.length === 0, schedule: Schedule.spaced("10 millis") }
    )
  })

/** From the first commit until the last outcome is written back, with so many events published at once. */
const ours = (targets: ReadonlyArray<Target>, origin: string, together = atOnce) =>
  Effect.gen(function* () {
    const outbox = yield* Outbox
    const before = yield* countAt(origin)
    const accept = (nth: number) =>
      Effect.gen(function* () {
        const batch = yield* Effect.forEach(
          Array.makeBy(together, (index) => nth * together + index),
          (one) => newEvents(at(targets, one).owner, [one])
        )
        yield* outbox.publish(batch.flat())
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
    const accept = (nth: number) => Effect.promise(() => sender.accept(all.slice(nth * atOnce, (nth + 1) * atOnce)))
    return yield* measured(
      Effect.forEach(Array.range(0, events / atOnce - 1), accept, { concurrency: callers, discard: true }).pipe(
        Effect.zipRight(arrived(origin, before + events)),
        Effect.zipRight(Effect.promise(() => sender.settled()))
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
    Effect.forEach(Array.range(1, rounds), (round) =>
      round % 2 === 1
        ? Effect.all([one, other])
        : Effect.map(Effect.all([other, one]), ([second, first]) => [first, second] as const)
    ),
    (all) => [all.map(([first]) => first), all.map(([, second]) => second)] as const
  )

/** Percentiles of event → first attempt, from the moment at which the event happens, at a steady load of transactions. */
const latency = (origin: string, perSecond: number, together: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const outbox = yield* Outbox
    const targets = yield* owners(1, origin)
    const { owner } = at(targets, 0)
    const started = yield* Clock.currentTimeMillis
    let told = 0
    const tell = Effect.suspend(() =>
      newEvents(
        owner,
        Array.makeBy(together, () => told++)
      )
    ).pipe(Effect.flatMap((batch) => outbox.publish(batch)))
    const tick = Effect.gen(function* () {
      const wanted = Math.floor((((yield* Clock.currentTimeMillis) - started) / 1000) * perSecond)
      const missing = Math.max(0, Math.floor((wanted - told) / together))
      yield* Effect.replicateEffect(tell, missing, { concurrency: callers, discard: true })
      yield* Effect.sleep("2 millis")
      return yield* Clock.currentTimeMillis
    })
    yield* Effect.repeat(tick, { until: (now) => now > started + 6_000 })
    yield* settled(targets)
    const rows = yield* sql<{ readonly p50: number; readonly p99: number }>`
      SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY wait) AS p50, percentile_cont(0.99) WITHIN GROUP (ORDER BY wait) AS p99
      FROM (
        SELECT extract(epoch FROM a.started_at - e.created_at)::float8 * 1000 AS wait
        FROM webhook_deliveries d JOIN webhook_events e ON e.id = d.event_id JOIN webhook_attempts a ON a.delivery_id = d.id
        WHERE d.owner_id = ${owner.id} AND a.number = 1 AND e.created_at > ${new Date(started + 1_000)}) AS waits`
    const { p50, p99 } = at(rows, 0)
    const reached = (told / ((yield* Clock.currentTimeMillis) - started)) * 1000
    console.log(
      `| event → first attempt at half load (${reached.toFixed(0)}/s), ${together} at once, ms | | p50 ${p50.toFixed(1)} | ` +
        `p99 **${p99.toFixed(1)}** | under 50 |`
    )
  })

const beside = (one: ReadonlyArray<Target>, origin: string, name: string, begin: Effect.Effect<Sender>) =>
  Effect.gen(function* () {
    const sender = yield* begin
    const [mine, theirs] = yield* alternating(ours(one, origin), peer(sender, one, origin))
    row(`committed → settled, 1 endpoint, against a sender on ${name}`, best(mine), best(theirs), "at least 2")
    yield* Effect.promise(() => sender.close())
  })

const besideADeadOne = (many: ReadonlyArray<Target>, origin: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const outbox = yield* Outbox
    const dead = yield* newOwner
    const { endpoint } = yield* register(dead, "http://127.0.0.1:9/")
    const kill = Effect.forEach(
      Array.range(0, deadBacklog / 1000 - 1),
      (nth) =>
        Effect.flatMap(
          newEvents(
            dead,
            Array.makeBy(1000, (index) => nth * 1000 + index)
          ),
          (batch) => outbox.publish(batch)
        ),
      { discard: true }
    )
    const revive = sql`
      UPDATE webhook_deliveries SET state = 'canceled', due_at = NULL WHERE endpoint_id = ${endpoint.id} AND due_at IS NOT NULL`
    const [calm, beset] = yield* alternating(
      ours(many, origin),
      Effect.zipLeft(Effect.zipRight(kill, ours(many, origin)), revive)
    )
    row(`1,000 endpoints beside one that is dead with ${deadBacklog} due`, best(beset), best(calm), "at least 0.95")
  })

const parts = ["one", "many", "pg-boss", "bullmq", "latency", "dead"] as const
const wanted = process.argv.slice(2)
const isWanted = (part: (typeof parts)[number]) => wanted.length === 0 || wanted.includes(part)

/** All of it, or the parts that are named on the command line. */
const bench = Effect.gen(function* () {
  const { origin } = yield* receiver
  const { url } = yield* DatabaseAddress
  const redisUrl = process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379"
  const one = yield* owners(1, origin)
  const many = yield* owners(isWanted("many") || isWanted("dead") ? 1000 : 1, origin)
  const { secret } = at(one, 0)
  console.log("| row | baseline | ours | ratio | asked |\n|---|---|---|---|---|")
  if (isWanted("one")) {
    const [mine, loop] = yield* alternating(ours(one, origin), bare(one, 32))
    row(
      "committed → settled, 1 endpoint, against a bare loop with 32 at a time",
      best(mine),
      best(loop),
      "at least 0.4"
    )
  }
  if (isWanted("many")) {
    const [spread, wide] = yield* alternating(ours(many, origin), bare(many, 1024))
    row("the same over 1,000 endpoints, 1,024 at a time", best(spread), best(wide), "at least 0.3")
  }
  if (isWanted("pg-boss")) {
    const begin = Effect.promise(() => pgBossSender(Redacted.value(url), secret, 32))
    yield* beside(one, origin, "pg-boss", begin)
  }
  if (isWanted("bullmq")) {
    const begin = Effect.promise(() => bullmqSender(Redacted.value(url), redisUrl, secret, 32))
    yield* beside(one, origin, "BullMQ", begin)
  }
  if (isWanted("latency")) {
    for (const together of [atOnce, 1]) {
      const rates = yield* Effect.replicateEffect(ours(one, origin, together), rounds)
      yield* latency(origin, best(rates).rate / 2, together)
    }
  }
  if (isWanted("dead")) yield* besideADeadOne(many, origin)
}).pipe(Effect.scoped, Effect.provide(program), Logger.withMinimumLogLevel(LogLevel.Error), Effect.orDie)

await Effect.runPromise(bench)
