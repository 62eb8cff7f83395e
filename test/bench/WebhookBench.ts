import { type ChildProcess, spawn } from "node:child_process"
import { randomBytes, randomUUID } from "node:crypto"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { Array, DateTime, Duration, Effect, Layer, Logger, LogLevel, Option, Redacted, Schedule } from "effect"
import { Client } from "pg"
import { Agent, request } from "undici"
import { idAt, nextId } from "../../src/kit/Id.ts"
import { Seal } from "../../src/kit/Seal.ts"
import { DatabaseAddress } from "../../src/sql/Database.ts"
import * as Database from "../../src/sql/Database.ts"
import * as EmbeddedPostgres from "../../src/sql/EmbeddedPostgres.ts"
import * as Migrations from "../../src/sql/Migrations.ts"
import { headersOf } from "../../src/webhook/Dispatch.ts"
import type { Owner } from "../../src/webhook/domain/Webhook.ts"
import { Endpoints } from "../../src/webhook/Endpoints.ts"
import { Outbox } from "../../src/webhook/Outbox.ts"
import * as Webhooks from "../../src/webhook/Webhooks.ts"
import * as TestSharding from "../support/TestSharding.ts"

/** Events in one round of each side. */
const events = 12_000
/** The first round of each side is for the compiler and does not count. */
const rounds = 7
/** Callers that accept at the same time; the bare loop has as many requests under way as the engine may. */
export const callers = 16
const sentAtOnce = 32
const target = 0.4

export interface BenchRow {
  readonly name: string
  /** Events per second. */
  readonly ours: number
  readonly baseline: number
  readonly ratio: number
  readonly target: number
}

/** A bare receiver in a process of its own: counts posts on /hook, tells the count on /count. */
const receiverSource = `
  let count = 0
  const server = require("node:http").createServer((request, response) => {
    if (request.url === "/count") return response.end(String(count))
    request.on("data", () => {}).on("end", () => { count += 1; response.end() })
  })
  server.listen(0, "127.0.0.1", () => console.log(server.address().port))
`

export const receiver = Effect.acquireRelease(
  Effect.async<{ readonly origin: string; readonly child: ChildProcess }>((resume) => {
    const child = spawn(process.execPath, ["-e", receiverSource], { stdio: ["ignore", "pipe", "inherit"] })
    child.stdout.once("data", (port: Buffer) =>
      resume(Effect.succeed({ origin: `http://127.0.0.1:${port.toString().trim()}`, child }))
    )
  }),
  ({ child }) => Effect.sync(() => child.kill())
)

export const countAt = (origin: string) =>
  Effect.promise(() => request(`${origin}/count`).then(({ body }) => body.text())).pipe(Effect.map(Number))

/** About 1 KiB, like a message event. */
export const dataOf = (nth: number) => ({
  message_id: String(nth),
  chat_id: "pb:340282366841710300949128137443944311111",
  chat_type: "private",
  direction: "incoming",
  type: "text",
  from: "someone",
  to: null,
  body: "x".repeat(700)
})

export const event = "message.received"

/** The events of one transaction: they happened at one moment. */
export const newEvents = (owner: Owner, nths: ReadonlyArray<number>) =>
  Effect.map(DateTime.now, (timestamp) =>
    nths.map((nth) => ({ eventId: idAt(timestamp.epochMillis), owner, event, timestamp, data: dataOf(nth) }))
  )

/** Events per second. */
const rate = <E, R>(effect: Effect.Effect<void, E, R>) =>
  Effect.map(Effect.timed(effect), ([time]) => events / Duration.toSeconds(time))

/** The rate over rounds of the same size. */
const overall = (rates: ReadonlyArray<number>) => rates.length / rates.reduce((sum, one) => sum + 1 / one, 0)

/** How callers publish: so many events at once, in a transaction of their own or sharing one with the other callers. */
export interface Publishing {
  readonly together: number
  readonly inTransaction: boolean
}

/** Over when the receiver has all of them. */
const engineRound = Effect.fn("engineRound")(function* (owner: Owner, origin: string, publishing: Publishing) {
  const { inTransaction, together } = publishing
  const outbox = yield* Outbox
  const before = yield* countAt(origin)
  const accept = (nth: number) =>
    Effect.flatMap(
      newEvents(
        owner,
        Array.makeBy(together, (index) => nth * together + index)
      ),
      (batch) => (inTransaction ? outbox.transaction(outbox.publish(batch)) : outbox.publish(batch))
    )
  const delivered = countAt(origin).pipe(
    Effect.repeat({ until: (count) => count >= before + events, schedule: Schedule.spaced("10 millis") })
  )
  const accepted = Effect.forEach(Array.range(1, events / together), accept, { concurrency: callers, discard: true })
  return yield* rate(Effect.asVoid(Effect.zipRight(accepted, delivered)))
})

/** The same bodies, signed and posted with the same headers by the plain client, and nothing else. */
const bareRound = Effect.fn("bareRound")(function* (owner: Owner, origin: string, secret: Redacted.Redacted<string>) {
  const agent = new Agent({ connections: sentAtOnce })
  const post = async (nth: number) => {
    const [eventId, id] = [randomUUID(), randomUUID()]
    const startedAt = DateTime.unsafeNow()
    const timestamp = DateTime.formatIso(startedAt)
    const body = JSON.stringify({ event, account_id: owner.id, timestamp, data: dataOf(nth) })
    const headers = headersOf({ secret, previousSecret: Option.none() }, { body, event, eventId }, { id, startedAt })
    const answer = await request(`${origin}/hook`, { method: "POST", headers, body, dispatcher: agent })
    await answer.body.dump()
  }
  let next = 0
  const lane = async () => {
    while (next < events) await post(next++)
  }
  const result = yield* rate(Effect.promise(() => Promise.all(Array.makeBy(sentAtOnce, lane))).pipe(Effect.asVoid))
  yield* Effect.promise(() => agent.close())
  return result
})

const administer = (url: string, statement: string) =>
  Effect.promise(async () => {
    const client = new Client({ connectionString: url })
    await client.connect()
    await client.query(statement)
    await client.end()
  })

/** As the program has. */
const maxConnections = 20

/**
 * A database of its own: on the server of `DATABASE_URL`, else on an embedded one that writes durably, with connections
 * for the peers as well.
 */
const address = Layer.unwrapScoped(
  Effect.gen(function* () {
    const given = process.env["DATABASE_URL"] ?? ""
    if (given === "") {
      const dataDir = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "gatehouse-bench-"))),
        (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
      )
      chmodSync(dataDir, 0o755)
      return Layer.project(
        EmbeddedPostgres.layer({ dataDir, maxConnections: 100 }),
        DatabaseAddress,
        DatabaseAddress,
        (address) => ({ ...address, maxConnections })
      )
    }
    const name = `gatehouse_bench_${randomBytes(4).toString("hex")}`
    yield* Effect.acquireRelease(administer(given, `CREATE DATABASE ${name}`), () =>
      administer(given, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    )
    const own = new URL(given)
    own.pathname = `/${name}`
    return Layer.succeed(DatabaseAddress, {
      url: Redacted.make(own.href),
      maxConnections,
      origin: "external" as const
    })
  })
)

export const program = Webhooks.layer({ allowPrivate: true }).pipe(
  Layer.provide(TestSharding.layer),
  Layer.provide(Seal.layer([Redacted.make(randomBytes(32))])),
  Layer.provide(Migrations.layer),
  Layer.provideMerge(Database.layer),
  Layer.provideMerge(address),
  Layer.provideMerge(Layer.setTracerEnabled(false))
)

/** Row (b): events accepted and delivered, against a bare loop; rounds alternate, and all but the first count. */
export const webhookBench = (publishing: Publishing): Effect.Effect<BenchRow> =>
  Effect.gen(function* () {
    const { origin } = yield* receiver
    const owner: Owner = { kind: "account", id: yield* nextId }
    const endpoints = yield* Endpoints
    const { secret } = yield* endpoints.create({
      owner,
      url: `${origin}/hook`,
      events: ["*"],
      retryCount: 5,
      timeoutSeconds: 10,
      maxPerSecond: Option.none(),
      isOrdered: false
    })
    const results = yield* Effect.forEach(Array.range(1, rounds), (round) => {
      const sides = { baseline: bareRound(owner, origin, secret), ours: engineRound(owner, origin, publishing) }
      return Effect.all(round % 2 === 0 ? { ours: sides.ours, baseline: sides.baseline } : sides)
    })
    const [, ...counted] = results
    const ours = overall(counted.map((round) => round.ours))
    const baseline = overall(counted.map((round) => round.baseline))
    return {
      name: `events accepted → delivered, ${publishing.together} at once${publishing.inTransaction ? ", each in its own transaction" : ""}, events/s`,
      ours,
      baseline,
      ratio: ours / baseline,
      target
    }
  }).pipe(Effect.scoped, Effect.provide(program), Logger.withMinimumLogLevel(LogLevel.Warning), Effect.orDie)

if (basename(process.argv[1] ?? "").startsWith("WebhookBench")) {
  const { baseline, name, ours, ratio } = await Effect.runPromise(webhookBench({ together: 20, inTransaction: false }))
  const [left, right] = [ours, baseline].map((number) => Math.round(number))
  console.log(`${name}: ${ratio.toFixed(2)} of a bare loop (${left}/s against ${right}/s), at least ${target} asked`)
  process.exitCode = ratio >= target ? 0 : 1
}
