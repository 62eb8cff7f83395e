import { randomBytes } from "node:crypto"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { NodeRuntime } from "@effect/platform-node"
import { Array, Console, Duration, Effect, Layer, Logger, LogLevel, Redacted, Schedule } from "effect"
import { Client } from "pg"
import { Agent, request } from "undici"
import { DatabaseAddress } from "../../src/sql/Database.ts"
import * as EmbeddedPostgres from "../../src/sql/EmbeddedPostgres.ts"
import { call } from "../support/Api.ts"
import * as Gatehouse from "../support/Gatehouse.ts"
import { type Case, cases } from "./ScaleCases.ts"
import { products, seed } from "./Seed.ts"

/**
 * Customers of the two databases that are compared: `SCALE_SMALL` and `SCALE_LARGE`. `SCALE_ONLY` names some of the cases;
 * `SCALE_KEEP=true` leaves the databases, `SCALE_DATABASES` measures such again.
 */
const sizes = [Number(process.env["SCALE_SMALL"] ?? 10_000), Number(process.env["SCALE_LARGE"] ?? 1_000_000)] as const

const administer = (url: string, statement: string) =>
  Effect.promise(async () => {
    const client = new Client({ connectionString: url })
    await client.connect()
    try {
      return (await client.query<Record<string, unknown>>(statement)).rows
    } finally {
      await client.end()
    }
  })

const answers = (url: string) => {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2000 })
  return Effect.tryPromise(() => client.connect().then(() => client.end())).pipe(Effect.isSuccess)
}

const embedded = Effect.gen(function* () {
  const dataDir = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "gatehouse-scale-"))),
    (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
  )
  chmodSync(dataDir, 0o755)
  const context = yield* Layer.build(EmbeddedPostgres.layer({ dataDir, maxConnections: 60 }))
  return yield* Effect.provide(
    Effect.map(DatabaseAddress, ({ url }) => Redacted.value(url)),
    context
  )
})

/** The server of `DATABASE_URL`, or the one that usually answers on this machine, or an embedded one. */
const server = Effect.gen(function* () {
  const usual = process.env["DATABASE_URL"] || "postgres://postgres@127.0.0.1:5432/test"
  return (yield* answers(usual)) ? usual : yield* embedded
})

/** Seeded before and kept: addresses of the two databases, to be measured again. */
const kept = (process.env["SCALE_DATABASES"] ?? "").split(" ").filter((url) => url !== "")

const database = (at: string) =>
  Effect.gen(function* () {
    const name = `gatehouse_scale_${randomBytes(4).toString("hex")}`
    yield* Effect.acquireRelease(administer(at, `CREATE DATABASE ${name}`), () =>
      process.env["SCALE_KEEP"] === "true"
        ? Console.error(`kept: ${name}`)
        : administer(at, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    )
    const own = new URL(at)
    own.pathname = `/${name}`
    return own.href
  })

const program = (databaseUrl: string) =>
  Effect.map(
    Gatehouse.serve({ DATABASE_URL: databaseUrl, RETENTION_DAYS: "0", LOG_LEVEL: "error" }),
    ({ url }) => `${url}/api/v1`
  )

const owner = { email: "ann@example.com", password: "eight characters" }

/** Makes the catalogue through the API and the history behind it. */
const prepare = (base: string, databaseUrl: string, customers: number) =>
  Effect.gen(function* () {
    const registered = yield* call("POST", `${base}/auth/register`, { body: { ...owner, name: "Ann" } })
    const token: string = registered.body.data.token
    const post = (path: string, body: object) => call("POST", `${base}${path}`, { token, body })
    const app = (yield* post("/apps", { name: "Notes", bundle_id: "com.example.notes" })).body.data
    for (const { identifier, period, store } of products) {
      const type = period === null ? "consumable" : "subscription"
      const made = { store, identifier, name: identifier, type }
      yield* post(`/apps/${app.uuid}/products`, period === null ? made : { ...made, subscription_period: period })
    }
    const unlocking = products.filter(({ period }) => period !== null).map(({ identifier }) => identifier)
    const pro = { identifier: "pro", name: "Pro", product_identifiers: [...new Set(unlocking)] }
    yield* post(`/apps/${app.uuid}/entitlements`, pro)
    const hook = yield* post(`/apps/${app.uuid}/webhooks`, { url: "http://127.0.0.1:9/", events: ["*"] })
    const ids = { appId: app.uuid as string, endpointId: hook.body.data.uuid as string }
    const [took] = yield* Effect.timed(Effect.promise(() => seed(databaseUrl, ids, customers)))
    const [size] = yield* administer(databaseUrl, "SELECT pg_size_pretty(pg_database_size(current_database())) AS size")
    yield* Console.error(`${customers} customers seeded in ${Duration.format(took)}, ${String(size?.["size"])}`)
  })

const buyers = `
  SELECT app_user_id FROM customers JOIN (SELECT DISTINCT customer_id AS id FROM subscriptions) buyers USING (id)
  ORDER BY md5(id::text) LIMIT 40`

const unsettled = "SELECT 1 FROM ledger_marks WHERE day < (now() AT TIME ZONE 'UTC')::date LIMIT 1"

/** The program on a database of its own, with an app that has so many customers. */
const world = (at: string, customers: number, index: number) =>
  Effect.gen(function* () {
    const known = kept[index]
    const databaseUrl = known ?? (yield* database(at))
    const base = yield* program(databaseUrl)
    if (known === undefined) yield* prepare(base, databaseUrl, customers)
    const settled = Effect.repeat(administer(databaseUrl, unsettled), {
      until: (rows) => rows.length === 0,
      schedule: Schedule.spaced("500 millis")
    })
    const [took] = yield* Effect.timed(settled)
    yield* Console.error(`${customers} customers: days summed up after ${Duration.format(took)}`)
    yield* administer(databaseUrl, "VACUUM ANALYZE ledger_days")
    const token: string = (yield* call("POST", `${base}/auth/login`, { body: owner })).body.data.token
    const [app] = (yield* call("GET", `${base}/apps`, { token })).body.data
    const [hook] = (yield* call("GET", `${base}/apps/${app.uuid}/webhooks`, { token })).body.data
    const people = yield* administer(databaseUrl, buyers)
    return {
      base,
      token,
      app: app.uuid as string,
      key: app.public_api_key as string,
      webhook: hook.uuid as string,
      people: people.map((row) => String(row["app_user_id"]))
    }
  })
export type World = Effect.Effect.Success<ReturnType<typeof world>>

const agent = new Agent({ connections: 1 })

/** Milliseconds of one answered request. */
const timed = async (of: World, path: string, token: string) => {
  const startedAt = performance.now()
  const answer = await request(`${of.base}${path}`, {
    dispatcher: agent,
    headers: { authorization: `Bearer ${token}` }
  })
  const text = await answer.body.text()
  const took = performance.now() - startedAt
  if (answer.statusCode !== 200) throw new Error(`${path} answered ${answer.statusCode}: ${text}`)
  return { took, text }
}

/** The cursor of the hundredth page, or of the last one where there are fewer. */
const deepCursor = async (of: World, path: string) => {
  let cursor: string | null = null
  for (let page = 1; page < 100; page += 1) {
    const { text } = await timed(of, `${path}${cursor === null ? "" : `&cursor=${cursor}`}`, of.token)
    const next: string | null = JSON.parse(text).next_cursor
    if (next === null) break
    cursor = next
  }
  return cursor
}

const quantile = (figures: ReadonlyArray<number>, share: number) =>
  [...figures].sort((left, right) => left - right)[Math.ceil(share * figures.length) - 1] ?? Number.NaN

interface Measured {
  readonly name: string
  readonly growth: number
  readonly isWithin: boolean
  readonly line: string
}

/** Asks both worlds in turn, so that what else the machine does hits both; the first answers of each count for nothing. */
const measure = async (worlds: ReadonlyArray<World>, asked: Case): Promise<Measured> => {
  const plans = await Promise.all(
    worlds.map(async (of) => ({
      of,
      tail: asked.isDeep ? `&cursor=${(await deepCursor(of, asked.path(of, 0))) ?? ""}`.replace(/&cursor=$/, "") : "",
      figures: new globalThis.Array<number>()
    }))
  )
  const people = asked.isPersonal ? 40 : 3
  for (let round = -people; round < asked.rounds; round += 1) {
    for (const { figures, of, tail } of plans) {
      const path = `${asked.path(of, round < 0 ? round + people : round)}${tail}`
      const { took } = await timed(of, path, asked.isPublic ? of.key : of.token)
      if (round >= 0) figures.push(took)
    }
  }
  const [small, large] = plans.map(({ figures }) => ({ p50: quantile(figures, 0.5), p99: quantile(figures, 0.99) }))
  const [before, after] = [small ?? { p50: NaN, p99: NaN }, large ?? { p50: NaN, p99: NaN }]
  const growth = after.p50 / before.p50
  const isWithin = growth <= asked.growth && after.p50 <= asked.atMost
  const figures = [before.p50, before.p99, after.p50, after.p99].map((figure) => figure.toFixed(1)).join(" | ")
  const bound = `${asked.growth}x${Number.isFinite(asked.atMost) ? `, ${asked.atMost} ms` : ""}`
  const line = `| ${asked.name} | ${figures} | ${growth.toFixed(2)}x | ${bound} | ${isWithin ? "pass" : "**FAIL**"} |`
  return { name: asked.name, growth, isWithin, line }
}

const bench = Effect.gen(function* () {
  const at = yield* server
  const worlds = yield* Effect.forEach(sizes, (customers, index) => world(at, customers, index))
  const columns = sizes.flatMap((customers) => [`${customers} p50`, `${customers} p99`])
  yield* Console.log(`| ms | ${columns.join(" | ")} | growth of p50 | at most | |\n|---|${"---|".repeat(7)}`)
  const wanted = process.env["SCALE_ONLY"] ?? ""
  const results = yield* Effect.forEach(
    Array.filter(cases, ({ name }) => name.includes(wanted)),
    (asked) =>
      Effect.tap(
        Effect.repeat(
          Effect.promise(() => measure(worlds, asked)),
          { until: ({ isWithin }) => isWithin, times: 2 }
        ),
        ({ line }) => Console.log(line)
      )
  )
  const broken = results.filter(({ isWithin }) => !isWithin)
  if (broken.length > 0) yield* Effect.sync(() => (process.exitCode = 1))
})

NodeRuntime.runMain(bench.pipe(Effect.scoped, Logger.withMinimumLogLevel(LogLevel.Warning)))
