import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer, Redacted } from "effect"
import { DatabaseAddress } from "../../src/sql/Database.ts"
import * as Database from "../../src/sql/Database.ts"
import * as EmbeddedPostgres from "../../src/sql/EmbeddedPostgres.ts"
import * as Migrations from "../../src/sql/Migrations.ts"
import { statements } from "../../src/subscription/SubscriberReader.ts"
import { call } from "../support/Api.ts"
import { secrets } from "../support/Gatehouse.ts"
import { subscriberServer } from "./Baseline.ts"
import { requestsPerSecond } from "./Load.ts"
import { notificationBench, serveBare, verifierBench } from "./NotificationBench.ts"
import { webhookBench } from "./WebhookBench.ts"

interface Row {
  readonly name: string
  readonly ours: number
  readonly baseline: number
  readonly asked: number
}

const rounds = [1, 2, 3]
const directory = mkdtempSync(join(tmpdir(), "gatehouse-bench-"))

const best = (figures: ReadonlyArray<number>) => Math.max(...figures)

const ready = async (url: string) => {
  for (;;) {
    const isReady = await fetch(`${url}/readyz`).then(
      ({ status }) => status === 200,
      () => false
    )
    if (isReady) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** `GET /client/subscribers/{id}` of the built program against node:http with the same SELECT, on one database. */
const subscriberRead = (databaseUrl: string) =>
  Effect.gen(function* () {
    const port = 8190
    const url = `http://127.0.0.1:${port}`
    const env = {
      PATH: process.env["PATH"] ?? "",
      ...secrets,
      DATABASE_URL: databaseUrl,
      PORT: String(port),
      LOG_LEVEL: "error"
    }
    const program = spawn(process.execPath, ["dist/gatehouse.mjs", "serve"], { env, stdio: "ignore" })
    yield* Effect.addFinalizer(() => Effect.sync(() => program.kill("SIGTERM")))
    yield* Effect.promise(() => ready(url))
    const registered = yield* call("POST", `${url}/api/v1/auth/register`, {
      body: { name: "Ann", email: "ann@example.com", password: "eight characters" }
    })
    const token: string = registered.body.data.token
    const app = yield* call("POST", `${url}/api/v1/apps`, {
      token,
      body: { name: "Notes", bundle_id: "com.example.notes" }
    })
    const key: string = app.body.data.public_api_key
    yield* call("GET", `${url}/api/v1/client/subscribers/u1`, { token: key })
    const { pool, server } = subscriberServer(databaseUrl, statements.byKey)
    yield* Effect.addFinalizer(() => Effect.promise(() => (server.close(), pool.end())))
    yield* Effect.promise(() => new Promise<void>((resolve) => server.listen(8191, "127.0.0.1", resolve)))
    const measure = (at: string) =>
      Effect.promise(() => requestsPerSecond(`${at}/api/v1/client/subscribers/u1`, key, { lanes: 32, seconds: 3 }))
    const ours: Array<number> = []
    const baseline: Array<number> = []
    for (const _ of rounds) {
      ours.push(yield* measure(url))
      baseline.push(yield* measure("http://127.0.0.1:8191"))
    }
    return { name: "GET /client/subscribers/{id}, requests/s", ours: best(ours), baseline: best(baseline), asked: 0.4 }
  }).pipe(Effect.scoped)

const print = ({ asked, baseline, name, ours }: Row) =>
  Console.log(
    `| ${name} | ${baseline.toFixed(0)} | ${ours.toFixed(0)} | **${(ours / baseline).toFixed(2)}** | at least ${asked} |`
  )

const database = Migrations.layer.pipe(
  Layer.provideMerge(Database.layer),
  Layer.provideMerge(EmbeddedPostgres.layer({ dataDir: directory, maxConnections: 20 }))
)

const measured = Effect.gen(function* () {
  const { url } = yield* DatabaseAddress
  yield* Console.log("| row | baseline | ours | ratio | asked |\n|---|---|---|---|---|")
  yield* print(yield* subscriberRead(Redacted.value(url)))
  yield* print(yield* verifierBench)
  yield* print(yield* notificationBench(Redacted.value(url)))
  for (const inTransaction of [false, true])
    for (const together of [20, 1])
      yield* print({ ...(yield* webhookBench({ together, inTransaction })), asked: inTransaction ? 0 : 0.4 })
}).pipe(
  Effect.provide(database),
  Effect.ensuring(Effect.sync(() => rmSync(directory, { recursive: true, force: true })))
)

if (process.argv[2] === "bare") serveBare()
else NodeRuntime.runMain(measured)
